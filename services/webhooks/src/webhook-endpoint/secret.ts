import { randomBytes } from "node:crypto";

/** `whsec_` and 32 random bytes in base64 (Standard Webhooks, symmetric secrets). */
export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
