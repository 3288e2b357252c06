import { randomUUID } from "node:crypto";
import type { CallbackProtocol } from "../callback-protocol.ts";
import { canary } from "../dialect.ts";
import { hmacHex } from "../hmac.ts";
import { leakedApplicant } from "../leak.ts";
import type { CallbackType, VendorCallbackType } from "../vocabulary.ts";
import { reviewResult, reviewStatus } from "./applicant.ts";

/** Callback type of each change. Sumsub does not report that a link was opened or has expired. */
const typeOf: Readonly<Partial<Record<CallbackType | VendorCallbackType, string>>> = {
  created: "applicantCreated",
  submitted: "applicantPending",
  failed: "applicantReviewed",
  completed: "applicantReviewed",
  review_resolved: "applicantReviewed",
  canceled: "applicantDeactivated",
  deleted: "applicantDeleted",
};

/** Callbacks of Sumsub (docs.sumsub.com/docs/user-verification-webhooks). */
export const sumsubCallbacks: CallbackProtocol = {
  bodyOf(application, { type, atMs }) {
    const status = reviewStatus(application);
    const name = type === "completed" && status === "onHold" ? "applicantOnHold" : typeOf[type];
    if (!name) return undefined;
    return {
      applicantId: application.providerId,
      inspectionId: canary("inspection"),
      correlationId: randomUUID(),
      levelName: application.vendor?.workflowOrLevel,
      externalUserId: application.reference,
      type: name,
      sandboxMode: true,
      reviewStatus: status,
      reviewResult: reviewResult(application),
      createdAtMs: new Date(atMs).toISOString().replace("T", " ").replace("Z", ""),
    };
  },
  secretsOf: ({ sumsubWebhookSecrets }) => sumsubWebhookSecrets,
  sign: (body, [secret = ""]) => ({
    "x-payload-digest": hmacHex(body, secret),
    "x-payload-digest-alg": "HMAC_SHA256_HEX",
  }),
  leak: (body, word) => ({ ...body, ...leakedApplicant(word) }),
  timeoutMs: 5_000,
  retriesMax: 4,
  isRetried: () => true,
};
