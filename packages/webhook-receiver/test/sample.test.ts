import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";

const sample = join(import.meta.dirname, "sample.ts");

test("the README shows the sample that is tried here", async () => {
  expect(await readFile(join(import.meta.dirname, "..", "README.md"), "utf8")).toContain(await readFile(sample, "utf8"));
});

test("the sample takes a webhook up once, and refuses what is not genuine", async () => {
  const [secret, next] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`) as [string, string];
  const port = await freePort();
  const child = spawn(process.execPath, [sample], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRETS: `${next},${secret}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const body = JSON.stringify({ id: "e1", event: "PAYMENT_REFUNDED", payment_id: "p1" });
  const send = async (by: string, text = body) => {
    const now = new Date();
    const headers = {
      "webhook-id": "e1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(by).sign("e1", now, body),
    };
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body: text })).status;
  };
  await vi.waitFor(async () => expect(await send(secret)).toBe(204), 90_000);
  expect(await send(next)).toBe(204);
  expect(await send(secret, `${body} `)).toBe(400);
  expect(await send(`whsec_${Buffer.alloc(32, 3).toString("base64")}`)).toBe(400);
  expect(output).toBe("PAYMENT_REFUNDED p1\n");
  child.kill();
  await once(child, "exit");
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
