import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aReceiver, type ReceivedCallback, type Receiver } from "./a-receiver.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aVerification, callProvider, kycControl } from "./a-verification.ts";

const secret = "provider-callback-secret";

let sandbox: Sandbox;
let receiver: Receiver;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(async () => {
  receiver = await aReceiver();
});
afterEach(async () => {
  await control(sandbox.url, "DELETE", "faults");
  await receiver[Symbol.asyncDispose]();
});

const aVerificationWithReceiver = (changes: Record<string, unknown> = {}) =>
  aVerification(sandbox.url, { callback_url: receiver.url, ...changes });
const setFault = (mode: string, times = 1) => control(sandbox.url, "PUT", "faults", { operation: "kyc_callback", mode, times });
const states = async (token: string) =>
  (await control(sandbox.url, "GET", `kyc/${token}`)).body.callbacks.map(({ state }: { state: string }) => state);
const results = async (token: string) =>
  (await control(sandbox.url, "GET", `kyc/${token}`)).body.callbacks.map(({ attempts }: { attempts: { result: string }[] }) =>
    attempts.map(({ result }) => result),
  );
const waitUntilNotPending = (token: string) => expect.poll(() => states(token)).not.toContain("pending");

/** Verifies the signature according to the specification, without the code that signs callbacks. */
function isSigned({ headers, raw }: ReceivedCallback, key = secret): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-provider-signature"])) ?? [];
  expect(Math.abs(Date.now() / 1000 - Number(t))).toBeLessThan(300);
  return (
    createHmac("sha256", key)
      .update(t ?? "")
      .update(".")
      .update(raw)
      .digest("hex") === v1
  );
}

test("the simulated provider sends a signed callback for each change of an application, in order, with the changed application and without the link", async () => {
  const { token, reference, providerId } = await aVerificationWithReceiver();
  await kycControl(sandbox.url, token, "submit", { outcome: "needs_review" });
  await kycControl(sandbox.url, token, "review", { outcome: "approved" });
  await waitUntilNotPending(token);
  expect(receiver.types()).toEqual(["opened", "submitted", "processing", "completed", "review_resolved"]);
  expect(receiver.received.map(({ body }) => body.sequence)).toEqual([2, 3, 4, 5, 6]);
  expect(receiver.received.map(({ body }) => body.application.status)).toEqual([
    "OPENED",
    "SUBMITTED",
    "PROCESSING",
    "COMPLETED",
    "COMPLETED",
  ]);
  expect(new Set(receiver.received.map(({ body }) => body.event_id)).size).toBe(5);
  for (const received of receiver.received) {
    expect(isSigned(received)).toBe(true);
    expect(received.headers["content-type"]).toBe("application/json");
    expect(received.raw).not.toContain(token);
  }
  expect(receiver.received[0]?.body).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "application.opened",
    occurred_at: expect.stringMatching(/Z$/),
    sequence: 2,
    application: {
      provider_id: providerId,
      reference,
      status: "OPENED",
      reason_codes: [],
      aml_hit_count: 0,
      attempts_used: 0,
      link_expires_at: expect.any(String),
      sequence: 2,
    },
  });
  expect(await states(token)).toEqual(Array(5).fill("delivered"));
});

test("the simulated provider sends a callback if an application is cancelled, expires or fails", async () => {
  const canceled = await aVerificationWithReceiver();
  await callProvider(sandbox.url, "POST", `applications/${canceled.providerId}/cancel`);
  const expired = await aVerificationWithReceiver();
  await kycControl(sandbox.url, expired.token, "expire");
  const failed = await aVerificationWithReceiver();
  await kycControl(sandbox.url, failed.token, "submit", { outcome: "failed" });
  for (const { token } of [canceled, expired, failed]) await waitUntilNotPending(token);
  const lastType = (reference: string) => receiver.of(reference).at(-1)?.body.type;
  expect([canceled, expired, failed].map(({ reference }) => lastType(reference))).toEqual([
    "application.canceled",
    "application.expired",
    "application.failed",
  ]);
});

test("the simulated provider sends a callback when a check ends or a link expires, without a request to the sandbox", async () => {
  await using clockSandbox = await aSandbox();
  const unused = await aVerification(clockSandbox.url, { callback_url: receiver.url });
  const delayedCheck = await aVerification(clockSandbox.url, { callback_url: receiver.url });
  await kycControl(clockSandbox.url, delayedCheck.token, "submit", { outcome: "approved", hold_seconds: 0.05 });
  await expect.poll(() => receiver.types()).toContain("completed");
  await control(clockSandbox.url, "POST", "clock", { advance_seconds: 72 * 3600 });
  await expect.poll(() => receiver.of(unused.reference).map(({ body }) => body.type)).toEqual(["application.expired"]);
});

test("the simulated provider retries a callback with the same body until a 2xx response, and only then sends the application's later callbacks", async () => {
  receiver.respondNext(500, 302, 404);
  const { token } = await aVerificationWithReceiver();
  await kycControl(sandbox.url, token, "submit", { outcome: "approved" });
  await waitUntilNotPending(token);
  expect(receiver.types()).toEqual(["opened", "opened", "opened", "opened", "submitted", "processing", "completed"]);
  expect(new Set(receiver.received.slice(0, 4).map(({ raw }) => raw)).size).toBe(1);
  expect(await results(token)).toEqual([["500", "302", "404", "204"], ["204"], ["204"], ["204"]]);
});

test("the simulated provider sets a callback to given_up after the last retry, and then sends the next callback", async () => {
  receiver.respondNext(500, 500, 500, 500);
  const { token } = await aVerificationWithReceiver();
  await kycControl(sandbox.url, token, "submit", { outcome: "approved" });
  await waitUntilNotPending(token);
  expect(await states(token)).toEqual(["given_up", "delivered", "delivered", "delivered"]);
  expect(receiver.types().slice(0, 5)).toEqual(["opened", "opened", "opened", "opened", "submitted"]);
});

test("the simulated provider sends an application's callbacks while another application's callbacks fail", async () => {
  await using slowRetrySandbox = await aSandbox({ kycCallbackRetryMs: [3_600_000] });
  const unreachable = await aVerification(slowRetrySandbox.url);
  const reachable = await aVerification(slowRetrySandbox.url, { callback_url: receiver.url });
  await kycControl(slowRetrySandbox.url, unreachable.token, "submit", { outcome: "approved" });
  await kycControl(slowRetrySandbox.url, reachable.token, "submit", { outcome: "approved" });
  await expect.poll(() => receiver.types()).toHaveLength(4);
  const { callbacks } = (await control(slowRetrySandbox.url, "GET", `kyc/${unreachable.token}`)).body;
  expect(callbacks.map(({ attempts }: { attempts: unknown[] }) => attempts.length)).toEqual([1, 0, 0, 0]);
});

test("the simulated provider signs each callback with both secrets during a rotation", async () => {
  await using rotatingSandbox = await aSandbox({ kycCallbackSecrets: ["old", "new"] });
  const { token } = await aVerification(rotatingSandbox.url, { callback_url: receiver.url });
  await kycControl(rotatingSandbox.url, token, "open");
  await expect.poll(() => receiver.received).toHaveLength(1);
  const header = String(receiver.received[0]?.headers["x-provider-signature"]);
  const [t, ...signatures] = header.split(",");
  const expected = ["old", "new"].map(
    (key) =>
      `v1=${createHmac("sha256", key)
        .update(`${t?.slice(2)}.${receiver.received[0]?.raw}`)
        .digest("hex")}`,
  );
  expect(signatures).toEqual(expected);
});

describe("a fault of callbacks", () => {
  const submitWith = async (mode: string, times = 1) => {
    const verification = await aVerificationWithReceiver();
    await setFault(mode, times);
    await kycControl(sandbox.url, verification.token, "submit", { outcome: "approved" });
    return verification;
  };

  test("the simulated provider sends a callback twice for the fault `duplicate`", async () => {
    const { token } = await submitWith("duplicate");
    await waitUntilNotPending(token);
    expect(receiver.types()).toEqual(["opened", "opened", "submitted", "processing", "completed"]);
    expect(receiver.received[0]?.raw).toBe(receiver.received[1]?.raw);
  });

  test("the simulated provider does not send a callback for the fault `drop`, but lists the event in GET events", async () => {
    const { token } = await submitWith("drop");
    await waitUntilNotPending(token);
    expect(receiver.types()).toEqual(["submitted", "processing", "completed"]);
    expect(await states(token)).toEqual(["dropped", "delivered", "delivered", "delivered"]);
    const { events } = (await callProvider(sandbox.url, "GET", "events?limit=500")).body;
    expect(events.at(-4)).toMatchObject({ type: "application.opened", sequence: 2 });
  });

  test("the simulated provider sends a callback after the next callback for the fault `reorder`", async () => {
    const { token } = await submitWith("reorder");
    await waitUntilNotPending(token);
    expect(receiver.types()).toHaveLength(4);
    expect(receiver.types().slice(0, 2)).toEqual(["submitted", expect.stringMatching(/opened|processing/)]);
    expect(receiver.types()).toContain("opened");
  });

  test("the simulated provider sends a callback with an invalid signature for the fault `bad_signature`, and retries the callback with a valid signature", async () => {
    receiver.respondNext(401);
    const { token } = await submitWith("bad_signature");
    await waitUntilNotPending(token);
    expect(receiver.received.slice(0, 2).map((received) => isSigned(received))).toEqual([false, true]);
    expect(receiver.types().slice(0, 3)).toEqual(["opened", "opened", "submitted"]);
  });

  test("the simulated provider sends a callback with personal data and a valid signature for the fault `leak:<word>`", async () => {
    const { token } = await submitWith("leak:canary");
    await waitUntilNotPending(token);
    const [leaked, next] = receiver.received;
    expect(leaked && isSigned(leaked)).toBe(true);
    expect(leaked?.body.application).toMatchObject({ status: "OPENED", document_number: "canary-number" });
    expect(next?.raw).not.toContain("canary");
  });

  test.each(["timeout_after", "reset_after"])(
    "the simulated provider sends a callback for the fault %s, and then sends the callback again as a retry",
    async (mode) => {
      const { token } = await submitWith(mode);
      await waitUntilNotPending(token);
      expect(receiver.types()).toEqual(["opened", "opened", "submitted", "processing", "completed"]);
    },
  );

  test.each(["timeout_before", "http_500", "http_503", "error:418"])(
    "the simulated provider does not send a callback's first attempt for the fault %s, and sends the retry",
    async (mode) => {
      const { token } = await submitWith(mode);
      await waitUntilNotPending(token);
      expect(receiver.types()).toEqual(["opened", "submitted", "processing", "completed"]);
      expect((await results(token))[0]).toEqual([expect.stringContaining(mode), "204"]);
    },
  );

  test("the simulated provider does not send a callback for the fault `html_200`, and sets the callback to delivered", async () => {
    const { token } = await submitWith("html_200");
    await waitUntilNotPending(token);
    expect(receiver.types()).toEqual(["submitted", "processing", "completed"]);
  });

  test("the simulated provider sends half of a callback's body for the fault `truncated`, and then retries the callback", async () => {
    const { token } = await submitWith("truncated");
    await waitUntilNotPending(token);
    expect(receiver.incomplete.count).toBe(1);
    expect(receiver.types()).toEqual(["opened", "submitted", "processing", "completed"]);
  });

  test("the simulated provider sends a callback after a delay for the fault `slow`", async () => {
    const { token } = await submitWith("slow:60");
    await waitUntilNotPending(token);
    expect((await results(token))[0]).toEqual(["204, fault slow:60"]);
  });
});
