import type { PointRun } from "./point-run.ts";

/** A point of the processor's acceptance list. */
export interface Point {
  /** Short name that identifies the point in `--only` and in file names. */
  readonly id: string;
  readonly title: string;
  readonly requirement: string;
  /** Whether the point is checked in each chosen language, or only in the first one. */
  readonly languages: "each" | "first";
  /** Records checks and screenshots of the point. Throws NotApplicable or PointStopped. */
  verify(run: PointRun): Promise<void>;
}
