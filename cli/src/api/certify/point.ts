import type { Stage } from "./stage.ts";

/** A point of the processor's acceptance list. */
export interface Point {
  /** Part of file names, and the name for `--only`. */
  readonly id: string;
  readonly title: string;
  readonly requirement: string;
  /** The point is played in each chosen language, or only in the first one. */
  readonly languages: "each" | "first";
  /** Records checks and pictures. Throws NotApplicable or PointStopped. */
  play(stage: Stage): Promise<void>;
}
