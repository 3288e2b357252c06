import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Case, cases } from "@amana/client/webhook-cases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { languages, run } from "./languages.ts";

const outcomes = { genuine: "ok", refused: "refused", misuse: "misuse" } as const;
const [{ body, secrets }] = cases as [Case];
const hex = createHmac("sha256", secrets[0] ?? "")
  .update(body)
  .digest("hex");
const xSignatures = [hex.slice(0, -1), hex.toUpperCase(), "é".repeat(64), "é".repeat(32), "😀".repeat(16), ""];
const xSignatureStep = (signature: string) => ({ headers: { "x-signature": `sha256=${signature}` }, body, secrets });
const steps = [
  ...cases.map(({ name, expected, ...verify }) => ({ what: name, verify, expect: outcomes[expected] })),
  { what: "genuine X-Signature", verifyXSignature: xSignatureStep(hex), expect: "ok" },
  ...xSignatures.map((signature) => ({
    what: `X-Signature ${signature}`,
    verifyXSignature: xSignatureStep(signature),
    expect: "refused",
  })),
];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-webhooks-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each(languages)("the $name library accepts genuine webhook deliveries and rejects forged deliveries", async (language) => {
  const file = join(dir, `${language.name}.json`);
  await writeFile(file, JSON.stringify({ values: {}, steps }));
  const lines = (await run(language, [...language.scenario, file], { env: {} })).trim().split("\n");
  expect(lines).toEqual(steps.map(({ what, expect }) => `✓ ${what}: ${expect}`));
});

test.runIf(languages.some(({ name }) => name === "python"))(
  "the Python library rejects a genuine webhook delivery if the tolerance is NaN",
  () => {
    const program = `
import base64, hashlib, hmac, time
from amana import WebhookRefused, verify_webhook
key, now = b"k" * 32, str(int(time.time()))
signature = base64.b64encode(hmac.new(key, f"id.{now}.{{}}".encode(), hashlib.sha256).digest()).decode()
headers = {"webhook-id": "id", "webhook-timestamp": now, "webhook-signature": f"v1,{signature}"}
try:
    verify_webhook(headers, b"{}", secrets=["whsec_" + base64.b64encode(key).decode()], tolerance_seconds=float("nan"))
except WebhookRefused as refused:
    print(refused)
`;
    const cwd = join(import.meta.dirname, "..", "python");
    expect(execFileSync("python3", ["-c", program], { cwd, encoding: "utf8" })).toBe("the timestamp is outside the tolerance\n");
  },
);
