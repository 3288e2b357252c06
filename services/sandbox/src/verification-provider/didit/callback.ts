import { createHmac, randomUUID } from "node:crypto";
import type { Application, PendingCallback } from "../application.ts";
import { decisionOf, sessionStatus } from "./decision.ts";

/** Changes of our model that change the status of a session. */
const types = ["opened", "completed", "review_resolved", "expired", "resubmitted"];

/** Returns a callback's body (docs.didit.me/integration/webhooks). Undefined: no callback. */
export function diditCallback(application: Application, { type, atMs }: PendingCallback): object | undefined {
  if (!types.includes(type)) return undefined;
  return {
    event_id: randomUUID(),
    webhook_type: "status.updated",
    timestamp: Math.floor(Date.now() / 1000),
    created_at: Math.floor(atMs / 1000),
    environment: "sandbox",
    session_id: application.providerId,
    vendor_data: application.reference,
    workflow_id: application.vendor?.plan,
    status: sessionStatus(application),
    decision: decisionOf(application),
  };
}

/** Returns the signature headers. Didit sends three signatures; only the first covers the bytes. */
export function signDiditCallback(body: string, secret: string): Record<string, string> {
  const hmac = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const { session_id, status, webhook_type, timestamp } = JSON.parse(body) as Record<string, unknown>;
  return {
    "x-signature": hmac(body),
    "x-signature-v2": hmac(JSON.stringify(JSON.parse(body), null, 1)),
    "x-signature-simple": hmac(`${timestamp}:${session_id}:${status}:${webhook_type}`),
    "x-timestamp": String(timestamp),
  };
}

/** Didit repeats a callback twice, after no response, 404 and 5xx only. */
export const isRepeatedByDidit = (result: string, attempts: number): boolean =>
  attempts < 2 && !/^[234]/.test(result.replace(/^404/, "x"));
