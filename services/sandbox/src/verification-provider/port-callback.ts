import { randomUUID } from "node:crypto";
import { toApiObject } from "./application.ts";
import type { CallbackProtocol } from "./callback-protocol.ts";
import { hmacHex } from "./hmac.ts";
import { leakedApplicant } from "./leak.ts";

/** Callbacks of Amana's own protocol. */
export const portCallbacks: CallbackProtocol = {
  bodyOf: (application, { type, atMs }) => ({
    event_id: randomUUID(),
    type: `application.${type}`,
    occurred_at: new Date(atMs).toISOString(),
    sequence: application.sequence,
    application: toApiObject(application),
  }),
  secretsOf: ({ kycCallbackSecrets }) => kycCallbackSecrets,
  sign(body, secrets) {
    // Uses the machine's clock, because receivers also compare the time with this clock.
    const seconds = Math.floor(Date.now() / 1000);
    const signatures = secrets.map((secret) => `v1=${hmacHex(`${seconds}.${body}`, secret)}`);
    return { "x-provider-signature": [`t=${seconds}`, ...signatures].join(",") };
  },
  leak(body, word) {
    const { application } = body as { application: object };
    return { ...body, ...leakedApplicant(word), application: { ...application, ...leakedApplicant(word) } };
  },
  timeoutMs: 10_000,
  retriesMax: Number.POSITIVE_INFINITY,
  isRetried: () => true,
};
