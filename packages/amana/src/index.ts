/** The command `amana`: what a service says of itself so that it can be repaired. */
export type { Difference, Heard, RepairedService, SealedColumn } from "./repaired-service.ts";
