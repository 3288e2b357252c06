import { createHmac } from "node:crypto";
import type { SigningSecrets } from "../webhook-endpoint/secrets.ts";

export const deliveryHeaders = (type: string, id: string, at: Date, body: Buffer, secrets: SigningSecrets) => ({
  "content-type": "application/json",
  "user-agent": "Amana-Webhooks/1.0",
  "x-webhook-event": type,
  ...signatureHeaders(id, Math.floor(at.getTime() / 1000), body, secrets),
});

/**
 * Returns the headers with which a business verifies a delivery. `X-Signature` covers only the
 * body, and its key is the text of the whole secret. `webhook-signature` (Standard Webhooks) covers
 * id, timestamp and body, and its key is the decoded base64 part of the secret.
 */
export function signatureHeaders(id: string, timestampSeconds: number, body: Buffer, secrets: SigningSecrets) {
  const signed = [secrets.current, secrets.other].filter((secret) => secret !== undefined);
  return {
    "x-signature": `sha256=${createHmac("sha256", secrets.current).update(body).digest("hex")}`,
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signed
      .map((secret) => {
        const key = Buffer.from(secret.replace("whsec_", ""), "base64");
        return `v1,${createHmac("sha256", key).update(`${id}.${timestampSeconds}.`).update(body).digest("base64")}`;
      })
      .join(" "),
  };
}
