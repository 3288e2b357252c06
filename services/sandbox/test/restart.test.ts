import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { aReceiver } from "./a-receiver.ts";
import { anOrder, call, control, credentials, payNewOrder, registerNewOrder, send, validCard } from "./a-sandbox.ts";
import { aCreation, aVerification, callProvider, kycControl, objectAt } from "./a-verification.ts";

let dataDir: string;
let runningProcess: ChildProcessByStdio<null, Readable, Readable> | undefined;
let output: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "amana-sandbox-"));
  output = "";
});
afterEach(async () => {
  await kill();
  rmSync(dataDir, { recursive: true });
});

/** Starts the sandbox as a separate process on a free port. Returns the sandbox's URL. */
async function start(): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    env: {
      SANDBOX_PORT: "0",
      SANDBOX_DATA_DIR: dataDir,
      SATIM_USERNAME: credentials.userName,
      SATIM_PASSWORD: credentials.password,
      KYC_CALLBACK_RETRY_SECONDS: "0.2,0.2,0.2,0.2,0.2",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  runningProcess = child;
  child.stderr.on("data", (chunk) => {
    output += `stderr: ${chunk}`;
  });
  for await (const line of createInterface(child.stdout)) {
    output += `${line}\n`;
    const { url } = JSON.parse(line);
    if (url) {
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      child.stdout.resume();
      return url;
    }
  }
  throw new Error(`The sandbox did not start:\n${output}`);
}

async function kill(): Promise<void> {
  if (!runningProcess || runningProcess.exitCode !== null || runningProcess.signalCode !== null) return;
  runningProcess.kill("SIGKILL");
  await once(runningProcess, "exit");
}

test("the sandbox still has its orders, refunds, received calls and clock after it was killed and started again", async () => {
  const url = await start();
  const order = await payNewOrder(url);
  const unpaidOrder = await registerNewOrder(url);
  const orderWithWrongPassword = await registerNewOrder(url);
  await control(url, "POST", `payments/${orderWithWrongPassword.orderId}/pay`, { ...validCard, password: "1" });
  await call(url, "confirmOrder.do", { orderId: order.orderId });
  await call(url, "refund.do", { orderId: order.orderId, amount: "100000" });
  await control(url, "POST", "clock", { advance_seconds: 1000 });
  const before = await control(url, "GET", `payments/${order.orderId}`);

  await kill();
  const restartedUrl = await start();

  const after = await control(restartedUrl, "GET", `payments/${order.orderId}`);
  expect(after).toEqual({ status: 200, body: { ...before.body, formUrl: `${restartedUrl}/payment/pay/${order.orderId}` } });
  expect(after.body).toMatchObject({ orderStatus: 4, refundedAmount: 100_000, confirmed: true });
  expect(
    await control(restartedUrl, "POST", `payments/${orderWithWrongPassword.orderId}/pay`, { ...validCard, password: "2" }),
  ).toMatchObject({
    body: { attempts_left: 1 },
  });
  expect(await call(restartedUrl, "register.do", anOrder({ orderNumber: order.orderNumber }))).toMatchObject({ errorCode: 1 });
  // The session lasts 1200 seconds: 1000 seconds passed before the kill, and 200 seconds pass now.
  await control(restartedUrl, "POST", "clock", { advance_seconds: 200 });
  expect(await call(restartedUrl, "getOrderStatus.do", { orderId: unpaidOrder.orderId })).toMatchObject({
    OrderStatus: 6,
    actionCode: -2007,
  });
});

test("the sandbox executes a late refund once if it was killed before the refund took effect and was started again", async () => {
  const url = await start();
  const { orderId } = await payNewOrder(url);
  await control(url, "PUT", "faults", { operation: "refund", mode: "error_late:1500" });
  await call(url, "refund.do", { orderId, amount: "1000" });

  await kill();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const restartedUrl = await start();
  const refunds = async (at: string) => (await control(at, "GET", `payments/${orderId}`)).body.refunds;
  await expect.poll(() => refunds(restartedUrl)).toMatchObject([{ amount: 1000, by: "client" }]);
  await kill();
  expect(await refunds(await start())).toHaveLength(1);
});

test("the files and the log of the sandbox contain no card number, password or credentials", async () => {
  const url = await start();
  const order = await registerNewOrder(url);
  await control(url, "POST", `payments/${order.orderId}/pay`, { ...validCard, password: "not-the-password" });
  await control(url, "POST", `payments/${order.orderId}/pay`, validCard);
  await send(url, "getOrderStatus.do", { orderId: order.orderId }, { method: "GET" });
  await expect.poll(() => output).toContain("getOrderStatus.do");
  await kill();

  const storedFiles = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), "latin1"));
  expect(storedFiles.join("")).toContain("628058**7215");
  for (const secret of [validCard.pan, "not-the-password", credentials.password]) {
    expect(storedFiles.join("")).not.toContain(secret);
    expect(output).not.toContain(secret);
  }
  expect(output).not.toContain("stderr:");
});

test("the sandbox completes checks in progress and delivers pending callbacks after it was killed and started again", async () => {
  await using receiver = await aReceiver();
  const profile = { first_name: "Zoé", last_name: "Unmistakable" };
  const url = await start();
  const creation = aCreation({ callback_url: receiver.url, profile });
  const { body: created } = await callProvider(url, "POST", "applications", creation);
  const token = created.link_url.split("/").at(-1);
  receiver.respondNext(503);
  await kycControl(url, token, "submit", { last_name: "Other", hold_seconds: 60 });
  const unusedVerification = await aVerification(url);
  await control(url, "POST", "clock", { advance_seconds: 30 });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  const before = await objectAt(url, created.provider_id);

  await kill();
  const restartedUrl = await start();

  expect(await objectAt(restartedUrl, created.provider_id)).toEqual({ ...before, link_url: `${restartedUrl}/verify/${token}` });
  expect(await callProvider(restartedUrl, "POST", "applications", creation)).toMatchObject({
    status: 200,
    body: { status: "PROCESSING" },
  });
  await expect.poll(() => receiver.types().slice(-2)).toEqual(["submitted", "processing"]);
  await control(restartedUrl, "POST", "clock", { advance_seconds: 30 });
  await expect.poll(() => receiver.types().at(-1)).toBe("completed");
  expect(receiver.received.at(-1)?.body.application).toMatchObject({
    verdict: "NEEDS_REVIEW",
    reason_codes: [{ code: "PROFILE_MISMATCH" }],
  });
  expect(new Set(receiver.of(creation.reference).map(({ body }) => body.event_id)).size).toBe(4);
  expect(await kycControl(restartedUrl, unusedVerification.token, "open")).toMatchObject({ body: { status: "OPENED" } });
  expect((await control(restartedUrl, "GET", `kyc/${token}`)).body.calls[0]).toMatchObject({ operation: "kyc_create" });
});

test("the files and the log of the sandbox contain no applicant's name, and the log contains no verification link", async () => {
  const url = await start();
  const { linkUrl, token } = await aVerification(url, {
    profile: { first_name: "Unmistakable", last_name: "Nobodyelse", birth_date: "1931-02-03" },
    applicant_email: "unmistakable@example.test",
  });
  await fetch(`${linkUrl}?lang=en`);
  await kycControl(url, token, "submit", { first_name: "Someoneelse", hold_seconds: 60 });
  await control(url, "GET", `kyc/${token}`);
  await expect.poll(() => output).toContain("/sandbox/kyc/[redacted]/submit");
  await kill();

  const storedFiles = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), "latin1"));
  expect(storedFiles.join("")).toContain(token);
  expect(output).not.toContain(token);
  for (const secret of ["Unmistakable", "unmistakable@", "Nobodyelse", "1931-02-03", "Someoneelse"]) {
    expect(storedFiles.join("").toLowerCase()).not.toContain(secret.toLowerCase());
    expect(output.toLowerCase()).not.toContain(secret.toLowerCase());
  }
  expect(output).not.toContain("stderr:");
});
