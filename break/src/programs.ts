import type { Program } from "./program.ts";

/** Every program, by the name it is called with. */
export const programs: Readonly<Record<string, Program>> = {};
