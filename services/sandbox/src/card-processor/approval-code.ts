import { randomInt } from "node:crypto";

/** What an issuer gives for an accepted payment: six digits, zeros in front kept. */
export const randomApprovalCode = () => String(randomInt(1_000_000)).padStart(6, "0");
