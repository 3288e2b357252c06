/** The command `amana`: what a service says of itself so that it can be repaired. */
export type { Difference, Evidence, Heard, RepairedService, SealedColumn } from "./repaired-service.ts";
