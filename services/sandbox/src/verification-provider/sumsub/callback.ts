import { createHmac, randomUUID } from "node:crypto";
import type { Application, PendingCallback } from "../application.ts";
import { reviewResult, reviewStatus } from "./applicant.ts";

/** Callback type of each change (docs.sumsub.com/docs/user-verification-webhooks). */
const types: Readonly<Record<string, string>> = {
  created: "applicantCreated",
  submitted: "applicantPending",
  failed: "applicantReviewed",
  completed: "applicantReviewed",
  review_resolved: "applicantReviewed",
  canceled: "applicantDeactivated",
  deleted: "applicantDeleted",
};

/** Returns the body of a callback, or undefined for no callback. */
export function sumsubCallback(application: Application, { type, atMs }: PendingCallback): object | undefined {
  const status = reviewStatus(application);
  const name = status === "onHold" && type === "completed" ? "applicantOnHold" : types[type];
  if (!name) return undefined;
  return {
    applicantId: application.providerId,
    inspectionId: "canary-inspection",
    correlationId: randomUUID(),
    levelName: application.vendor?.plan,
    externalUserId: application.reference,
    type: name,
    sandboxMode: true,
    reviewStatus: status,
    reviewResult: reviewResult(application),
    createdAtMs: new Date(atMs).toISOString().replace("T", " ").replace("Z", ""),
  };
}

/** Returns the headers of the signature (docs.sumsub.com/docs/webhook-manager). */
export const signSumsubCallback = (body: string, secret: string): Record<string, string> => ({
  "x-payload-digest": createHmac("sha256", secret).update(body).digest("hex"),
  "x-payload-digest-alg": "HMAC_SHA256_HEX",
});

/** Sumsub repeats a callback four times. */
export const isRepeatedBySumsub = (attempts: number): boolean => attempts < 4;
