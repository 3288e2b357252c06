import type { Application, Steps } from "../application.ts";
import { documentTypes } from "../vocabulary.ts";

/** Which of the counted steps a page belongs to. */
export const stepNumber = { start: 0, document: 1, front: 2, back: 2, choice: 3, recording: 3, review: 4 };

export const stepsCount = 4;

export type Step = keyof typeof stepNumber;

type Asking = Pick<Application, "steps" | "requireVideo">;

/** What is asked of this applicant before the review, in order, and what was answered. */
function asked({ steps, requireVideo }: Asking): { step: Step; answer: unknown }[] {
  return [
    { step: "start", answer: steps.started },
    { step: "document", answer: steps.document },
    { step: "front", answer: steps.front },
    ...(steps.document === "passport" ? [] : [{ step: "back" as const, answer: steps.back }]),
    ...(requireVideo ? [] : [{ step: "choice" as const, answer: steps.recording }]),
    { step: "recording", answer: steps.recorded },
  ];
}

/** Where the applicant stands: the first thing that is still missing. */
export const stepOf = (application: Asking): Step => asked(application).find(({ answer }) => !answer)?.step ?? "review";

/** What the way back from a step takes back. */
export function stepBefore(application: Asking, step: Step): Step {
  const steps: Step[] = [...asked(application).map((question) => question.step), "review"];
  return steps[steps.indexOf(step) - 1] ?? "start";
}

/** What one form adds. One of another step adds nothing, so a second press is harmless. */
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

/** With a thing goes only what cannot stand without it. */
const takenBack = new Map<string, readonly (keyof Steps)[]>([
  ["start", ["started", "document", "front", "back", "recording", "recorded"]],
  ["document", ["document", "front", "back"]],
  ["front", ["front"]],
  ["back", ["back"]],
  ["choice", ["recording", "recorded"]],
  ["recording", ["recorded"]],
]);

export function undo(steps: Steps, what: string): Steps {
  const gone: readonly string[] = takenBack.get(what) ?? [];
  return Object.fromEntries(Object.entries(steps).filter(([name]) => !gone.includes(name)));
}
