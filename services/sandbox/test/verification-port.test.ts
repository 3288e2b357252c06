import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aNewReference, aVerification, aWish, callPort, kycControl, objectAt } from "./a-verification.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
afterEach(() => control(sandbox.url, "DELETE", "faults"));

const create = (changes: Record<string, unknown> = {}) => callPort(sandbox.url, "POST", "applications", aWish(changes));
const cancel = (providerId: string) => callPort(sandbox.url, "POST", `applications/${providerId}/cancel`);

describe("creation", () => {
  test("answers 201 with the whole object, valid for 72 hours", async () => {
    const before = Date.now();
    const { status, body } = await create({ reference: "first" });
    expect(status).toBe(201);
    expect(body).toEqual({
      provider_id: expect.stringMatching(/^ver_[0-9a-f]{24}$/),
      reference: "first",
      status: "CREATED",
      reason_codes: [],
      aml_hit_count: 0,
      attempts_used: 0,
      link_url: expect.stringMatching(new RegExp(`^${sandbox.url}/verify/[A-Za-z0-9_-]{43}$`)),
      link_expires_at: expect.stringMatching(/Z$/),
      sequence: 1,
    });
    expect(Math.round((Date.parse(body.link_expires_at) - before) / 60_000)).toBe(72 * 60);
  });

  test("with the same reference again answers 200 with the same object, whatever else it says", async () => {
    const reference = aNewReference();
    const [first, ...others] = await Promise.all([1, 2, 3].map((ttl_hours) => create({ reference, ttl_hours })));
    expect([first, ...others].map((answer) => answer?.status).sort()).toEqual([200, 200, 201]);
    for (const other of others) expect(other.body).toEqual(first?.body);
    await kycControl(sandbox.url, new URL(first?.body.link_url).pathname.slice(8), "open");
    expect(await create({ reference })).toMatchObject({ status: 200, body: { status: "OPENED", sequence: 2 } });
  });

  test("a lifetime of one hour is one hour", async () => {
    const { body } = await create({ ttl_hours: 1 });
    expect(Math.round((Date.parse(body.link_expires_at) - Date.now()) / 60_000)).toBe(60);
  });

  test.each([
    ["reference", undefined],
    ["reference", 7],
    ["callback_url", undefined],
    ["callback_url", "javascript:alert(1)"],
    ["redirect_url", "/relative"],
    ["locale", "de"],
    ["allowed_documents", []],
    ["allowed_documents", ["passport", "passport"]],
    ["allowed_documents", ["driving_licence"]],
    ["allowed_documents", "passport"],
    ["max_attempts", 0],
    ["max_attempts", 11],
    ["require_video", "yes"],
    ["ttl_hours", 721],
    ["profile", ["x"]],
  ])("refuses %s %j with 422 and names it", async (name, value) => {
    const { status, body } = await create({ [name]: value });
    expect(status).toBe(422);
    expect(body.problems).toEqual([expect.stringContaining(name)]);
  });
});

test.each([
  ["POST", "applications"],
  ["GET", "applications/nobody"],
  ["POST", "applications/nobody/cancel"],
  ["POST", "applications/nobody/review"],
  ["GET", "events"],
])("%s %s is denied to a wrong token and does nothing", async (method, path) => {
  const wish = aWish();
  const answer = await callPort(sandbox.url, method, path, method === "POST" ? wish : undefined, { token: "wrong" });
  expect(answer).toEqual({ status: 401, body: { error: "unauthorized", message: expect.any(String) } });
  expect((await control(sandbox.url, "GET", `kyc?reference=${wish.reference}`)).status).toBe(404);
});

test.each([
  ["GET", "applications/nobody"],
  ["POST", "applications/nobody/cancel"],
])("%s %s is 404", async (method, path) => {
  expect(await callPort(sandbox.url, method, path)).toMatchObject({ status: 404, body: { error: "unknown_application" } });
});

describe("cancel", () => {
  test.each(["CREATED", "OPENED", "FAILED"])("from %s answers 200 with the object", async (status) => {
    const { providerId, token } = await aVerification(sandbox.url);
    if (status === "OPENED") await kycControl(sandbox.url, token, "open");
    if (status === "FAILED") await kycControl(sandbox.url, token, "submit", { outcome: "failed" });
    expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status });
    expect(await cancel(providerId)).toMatchObject({ status: 200, body: { status: "CANCELED", provider_id: providerId } });
  });

  test.each([
    ["PROCESSING", "submit", { outcome: "approved", hold_seconds: 60 }],
    ["COMPLETED", "submit", { outcome: "approved" }],
    ["EXPIRED", "expire", {}],
  ])("from %s answers 409 with the object, unchanged", async (status, call, body) => {
    const { providerId, token } = await aVerification(sandbox.url);
    await kycControl(sandbox.url, token, call, body);
    const before = await objectAt(sandbox.url, providerId);
    expect(before.status).toBe(status);
    expect(await cancel(providerId)).toEqual({ status: 409, body: before });
    expect(await objectAt(sandbox.url, providerId)).toEqual(before);
  });

  test("twice answers 409 with the cancelled object", async () => {
    const { providerId } = await aVerification(sandbox.url);
    const first = await cancel(providerId);
    expect(await cancel(providerId)).toEqual({ status: 409, body: first.body });
  });
});

describe("review", () => {
  const review = (providerId: string, body: object) => callPort(sandbox.url, "POST", `applications/${providerId}/review`, body);
  const decision = { outcome: "APPROVED", reviewer: "officer", note: "Same person." };

  test.each(["APPROVED", "REJECTED"])("%s settles what needed one, once", async (outcome) => {
    const { providerId, token } = await aVerification(sandbox.url);
    await kycControl(sandbox.url, token, "submit", { outcome: "needs_review", aml_hit_count: 2 });
    const before = await objectAt(sandbox.url, providerId);
    const first = await review(providerId, { ...decision, outcome });
    expect(first).toMatchObject({ status: 200, body: { status: "COMPLETED", verdict: outcome, sequence: before.sequence + 1 } });
    expect(first.body.aml_decision).toBe(outcome === "APPROVED" ? "CLEAR" : "CONFIRMED_MATCH");
    expect(await review(providerId, decision)).toEqual({ status: 409, body: first.body });
  });

  test("of anything else answers 409 with the object", async () => {
    const { providerId } = await aVerification(sandbox.url);
    expect(await review(providerId, decision)).toMatchObject({ status: 409, body: { status: "CREATED" } });
  });

  test.each([{ outcome: "NEEDS_REVIEW" }, { reviewer: undefined }, { note: 1 }])("refuses %j with 422", async (changes) => {
    const { providerId } = await aVerification(sandbox.url);
    expect(await review(providerId, { ...decision, ...changes })).toMatchObject({ status: 422 });
  });
});

describe("time", () => {
  test("a link nobody finished lapses by the sandbox's clock, once, and one being checked does not", async () => {
    await using clocked = await aSandbox();
    const unused = await aVerification(clocked.url, { ttl_hours: 1 });
    const checked = await aVerification(clocked.url, { ttl_hours: 1 });
    const usedUp = await aVerification(clocked.url, { ttl_hours: 1, max_attempts: 1 });
    await kycControl(clocked.url, checked.token, "submit", { outcome: "approved", hold_seconds: 7200 });
    await kycControl(clocked.url, usedUp.token, "submit", { outcome: "failed" });
    await control(clocked.url, "POST", "clock", { advance_seconds: 3600 });
    expect(await objectAt(clocked.url, unused.providerId)).toMatchObject({ status: "EXPIRED", sequence: 2 });
    expect(await objectAt(clocked.url, checked.providerId)).toMatchObject({ status: "PROCESSING" });
    expect(await objectAt(clocked.url, usedUp.providerId)).toMatchObject({ status: "FAILED" });
    await control(clocked.url, "POST", "clock", { advance_seconds: 3600 });
    expect(await objectAt(clocked.url, checked.providerId)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
    expect(await objectAt(clocked.url, unused.providerId)).toMatchObject({ sequence: 2 });
  });

  test("a failed check and then the lapse both happen in one jump of the clock", async () => {
    await using clocked = await aSandbox();
    const { providerId, token } = await aVerification(clocked.url, { ttl_hours: 1 });
    await kycControl(clocked.url, token, "submit", { outcome: "failed", hold_seconds: 60 });
    await control(clocked.url, "POST", "clock", { advance_seconds: 7200 });
    expect(await objectAt(clocked.url, providerId)).toMatchObject({ status: "EXPIRED", attempts_used: 1 });
  });
});

describe("events", () => {
  test("are read from a cursor on, all of them, in order, and nothing new gives the same cursor", async () => {
    const start = (await callPort(sandbox.url, "GET", "events?limit=500")).body.cursor;
    const { token, reference } = await aVerification(sandbox.url);
    await kycControl(sandbox.url, token, "submit", { outcome: "rejected" });
    const first = (await callPort(sandbox.url, "GET", `events?after=${start}&limit=3`)).body;
    const rest = (await callPort(sandbox.url, "GET", `events?after=${first.cursor}&limit=3`)).body;
    const events = [...first.events, ...rest.events];
    expect(events.map(({ type }) => type)).toEqual(
      ["opened", "submitted", "processing", "completed"].map((type) => `application.${type}`),
    );
    expect(events.map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5]);
    expect(events[3]).toEqual({
      cursor: rest.cursor,
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: "application.completed",
      occurred_at: expect.stringMatching(/Z$/),
      sequence: 5,
      application: expect.objectContaining({ reference, verdict: "REJECTED", sequence: 5 }),
    });
    expect(JSON.stringify(events)).not.toContain("link_url");
    expect((await callPort(sandbox.url, "GET", `events?after=${rest.cursor}`)).body).toEqual({ events: [], cursor: rest.cursor });
  });

  test.each(["after=x", "limit=0", "limit=501"])("refuses ?%s with 422", async (query) => {
    expect((await callPort(sandbox.url, "GET", `events?${query}`)).status).toBe(422);
  });
});

describe("a planted fault", () => {
  const plant = (operation: string, mode: string) => control(sandbox.url, "PUT", "faults", { operation, mode });
  const short = () => ({ signal: AbortSignal.timeout(300) });

  test.each([
    ["timeout_before", 404],
    ["timeout_after", 200],
    ["reset_after", 200],
  ])("%s of a creation leaves the caller without an answer", async (mode, found) => {
    const wish = aWish();
    await plant("kyc_create", mode);
    await expect(callPort(sandbox.url, "POST", "applications", wish, short())).rejects.toThrow();
    const { status, body } = await control(sandbox.url, "GET", `kyc?reference=${wish.reference}`);
    expect(status).toBe(found);
    expect(body.calls).toHaveLength(1);
    expect(await callPort(sandbox.url, "POST", "applications", wish)).toMatchObject({ status: found === 200 ? 200 : 201 });
  });

  test("truncated sends half of a created answer", async () => {
    const wish = aWish();
    await plant("kyc_create", "truncated");
    await expect(callPort(sandbox.url, "POST", "applications", wish)).rejects.toThrow();
    expect((await control(sandbox.url, "GET", `kyc?reference=${wish.reference}`)).status).toBe(200);
  });

  test.each(["kyc_create", "kyc_get", "kyc_cancel"])(
    "error:<status> of %s is a refusal with that status, without effect",
    async (operation) => {
      const { providerId } = await aVerification(sandbox.url);
      await plant(operation, "error:422");
      const path = {
        kyc_create: "applications",
        kyc_get: `applications/${providerId}`,
        kyc_cancel: `applications/${providerId}/cancel`,
      };
      const method = operation === "kyc_get" ? "GET" : "POST";
      const body = operation === "kyc_create" ? aWish() : undefined;
      const answer = await callPort(sandbox.url, method, path[operation as keyof typeof path], body);
      expect(answer).toEqual({ status: 422, body: { error: "planted_fault", message: expect.any(String) } });
      expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "CREATED" });
    },
  );

  test("leak:<word> adds who the applicant is to the object, and leak_error:<word> repeats the word without effect", async () => {
    const { providerId } = await aVerification(sandbox.url);
    await plant("kyc_get", "leak:canary-1");
    const leaking = await objectAt(sandbox.url, providerId);
    expect(leaking).toMatchObject({ provider_id: providerId, status: "CREATED", first_name: "canary-1-first" });
    expect(await objectAt(sandbox.url, providerId)).not.toHaveProperty("first_name");

    const wish = aWish();
    await plant("kyc_create", "leak_error:canary-2");
    const refused = await callPort(sandbox.url, "POST", "applications", wish);
    expect(refused).toMatchObject({
      status: 422,
      body: { error: "planted_fault", message: expect.stringContaining("canary-2") },
    });
    expect((await control(sandbox.url, "GET", `kyc?reference=${wish.reference}`)).status).toBe(404);
  });

  test("a cancel that times out after the effect is cancelled", async () => {
    const { providerId } = await aVerification(sandbox.url);
    await plant("kyc_cancel", "timeout_after");
    await expect(callPort(sandbox.url, "POST", `applications/${providerId}/cancel`, undefined, short())).rejects.toThrow();
    expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "CANCELED" });
  });

  test.each([
    ["kyc_get", "error:200"],
    ["kyc_get", "duplicate"],
    ["kyc_callback", "error:7"],
    ["register", "bad_signature"],
    ["kyc_get", "leak:"],
    ["kyc_callback", "leak_error:x"],
    ["refund", "leak:x"],
  ])("%s does not understand %s", async (operation, mode) => {
    expect(await plant(operation, mode)).toMatchObject({ status: 422 });
  });
});
