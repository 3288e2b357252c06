import type { Application, Steps } from "../application.ts";
import { documentTypes } from "../vocabulary.ts";

/** Where the applicant stands: the first thing that is still missing. */
export type Step = "intro" | "document" | "front" | "back" | "choice" | "recording" | "review";

export const stepsCount = 4;

/** Which of the counted steps a page belongs to. */
export const stepNumber: Readonly<Record<Step, number>> = {
  intro: 0,
  document: 1,
  front: 2,
  back: 2,
  choice: 3,
  recording: 3,
  review: 4,
};

export function stepOf({ steps, requireVideo }: Pick<Application, "steps" | "requireVideo">): Step {
  if (!steps.started) return "intro";
  if (!steps.document) return "document";
  if (!steps.front) return "front";
  if (steps.document === "id_card" && !steps.back) return "back";
  if (!steps.recording && !requireVideo) return "choice";
  return steps.recorded ? "review" : "recording";
}

/** What one form adds; anything that does not belong to the step on the page adds nothing, so a second press is harmless. */
export function take(application: Application, action: string, value: string): Steps {
  const { steps, requireVideo } = application;
  const step = stepOf(application);
  if (action === "start") return { ...steps, started: true };
  if (action === "document" && step === "document") {
    const document = documentTypes.find((type) => type === value && application.allowedDocuments.includes(type));
    return document ? { ...steps, document } : steps;
  }
  if (action === "photo" && step === value) return { ...steps, [step]: true };
  if (action === "choice" && step === "choice" && (value === "video" || value === "still")) return { ...steps, recording: value };
  if (action === "record" && step === "recording")
    return { ...steps, recording: requireVideo ? "video" : (steps.recording ?? "video"), recorded: true };
  return steps;
}

/** Takes one thing back, and with it only what cannot stand without it. */
export function undo(steps: Steps, what: string): Steps {
  const { started, document, front, back, recording, recorded, ...rest } = steps;
  switch (what) {
    case "start":
      return rest;
    case "document":
      return { ...rest, ...(started && { started }), ...(recording && { recording }), ...(recorded && { recorded }) };
    case "front":
      return without(steps, "front");
    case "back":
      return without(steps, "back");
    case "choice":
      return without(without(steps, "recording"), "recorded");
    case "recording":
      return without(steps, "recorded");
    default:
      return steps;
  }
}

/** What the way back from a step takes back. */
export function stepBefore({ steps, requireVideo }: Pick<Application, "steps" | "requireVideo">, step: Step): string {
  if (step === "document") return "start";
  if (step === "front") return "document";
  if (step === "back") return "front";
  if (step === "recording" && !requireVideo) return "choice";
  if (step === "review") return "recording";
  return steps.document === "id_card" ? "back" : "front";
}

function without(steps: Steps, name: keyof Steps): Steps {
  const { [name]: _taken, ...rest } = steps;
  return rest;
}
