import { createHmac } from "node:crypto";

/** The value of X-Provider-Signature, with the machine's time: a client knows no sandbox clock. */
export function sign(secrets: readonly string[], body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}
