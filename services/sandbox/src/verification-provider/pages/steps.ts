import type { Application, Steps } from "../application.ts";
import { documentTypes } from "../vocabulary.ts";

/** Step number that each page shows. The start page has the number 0 and does not show it. */
export const stepNumber = { start: 0, document: 1, front: 2, back: 2, choice: 3, recording: 3, review: 4 };

export const stepsCount = 4;

export type Step = keyof typeof stepNumber;

type StepState = Pick<Application, "steps" | "requireVideo">;

/** Returns the applicant's steps before the review, in order, each with its stored input. */
function stepsOf({ steps, requireVideo }: StepState): { step: Step; input: unknown }[] {
  return [
    { step: "start", input: steps.started },
    { step: "document", input: steps.document },
    { step: "front", input: steps.front },
    ...(steps.document === "passport" ? [] : [{ step: "back" as const, input: steps.back }]),
    ...(requireVideo ? [] : [{ step: "choice" as const, input: steps.recording }]),
    { step: "recording", input: steps.recorded },
  ];
}

/** Returns the first step without input. */
export const stepOf = (application: StepState): Step => stepsOf(application).find(({ input }) => !input)?.step ?? "review";

/** Returns the step before `step`. The button "Back" clears the input of the returned step. */
export function stepBefore(application: StepState, step: Step): Step {
  const steps: Step[] = [...stepsOf(application).map((entry) => entry.step), "review"];
  return steps[steps.indexOf(step) - 1] ?? "start";
}

/**
 * Returns the stored steps together with the input of a form. Ignores a form that belongs to
 * another step.
 */
export function addInput(application: Application, action: string, value: string): Steps {
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

/**
 * Inputs that the button "Back" clears for each step: the input of the step and all inputs that
 * depend on it.
 */
const clearedBy = new Map<string, readonly (keyof Steps)[]>([
  ["start", ["started", "document", "front", "back", "recording", "recorded"]],
  ["document", ["document", "front", "back"]],
  ["front", ["front"]],
  ["back", ["back"]],
  ["choice", ["recording", "recorded"]],
  ["recording", ["recorded"]],
]);

export function clearStep(steps: Steps, step: string): Steps {
  const clearedSteps: readonly string[] = clearedBy.get(step) ?? [];
  return Object.fromEntries(Object.entries(steps).filter(([name]) => !clearedSteps.includes(name)));
}
