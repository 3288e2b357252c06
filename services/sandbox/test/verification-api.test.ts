import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aSession, decisionAt } from "./a-vendor.ts";
import { aCreation, aNewReference, aVerification, callProvider, kycControl, objectAt } from "./a-verification.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
afterEach(() => control(sandbox.url, "DELETE", "faults"));

const create = (changes: Record<string, unknown> = {}) => callProvider(sandbox.url, "POST", "applications", aCreation(changes));
const cancel = (providerId: string) => callProvider(sandbox.url, "POST", `applications/${providerId}/cancel`);

describe("creation", () => {
  test("the simulated provider's POST applications returns status 201 with the application and a link that is valid for 72 hours", async () => {
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

  test("the simulated provider's POST applications returns status 200 with the existing application for a known reference, even if other fields differ", async () => {
    const reference = aNewReference();
    const [created, ...others] = await Promise.all([1, 2, 3].map((ttl_hours) => create({ reference, ttl_hours })));
    expect([created, ...others].map((response) => response?.status).sort()).toEqual([200, 200, 201]);
    for (const other of others) expect(other.body).toEqual(created?.body);
    await kycControl(sandbox.url, new URL(created?.body.link_url).pathname.slice(8), "open");
    expect(await create({ reference })).toMatchObject({ status: 200, body: { status: "OPENED", sequence: 2 } });
  });

  test("the simulated provider's POST applications returns a link that is valid for ttl_hours", async () => {
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
  ])("the simulated provider's POST applications returns status 422 with one problem for %s = %j", async (name, value) => {
    const { status, body } = await create({ [name]: value });
    expect(status).toBe(422);
    expect(body.problems).toEqual([expect.stringContaining(name)]);
  });
});

test.each([
  ["POST", "applications"],
  ["GET", "applications/unknown"],
  ["POST", "applications/unknown/cancel"],
  ["POST", "applications/unknown/review"],
  ["GET", "events"],
])("the simulated provider's %s %s returns status 401 for a wrong token and has no effect", async (method, path) => {
  const creation = aCreation();
  const response = await callProvider(sandbox.url, method, path, method === "POST" ? creation : undefined, { token: "wrong" });
  expect(response).toEqual({ status: 401, body: { error: "unauthorized", message: expect.any(String) } });
  expect((await control(sandbox.url, "GET", `kyc?reference=${creation.reference}`)).status).toBe(404);
});

test.each([
  ["GET", "applications/unknown"],
  ["POST", "applications/unknown/cancel"],
])("the simulated provider's %s %s returns status 404 for an unknown application", async (method, path) => {
  expect(await callProvider(sandbox.url, method, path)).toMatchObject({ status: 404, body: { error: "unknown_application" } });
});

describe("cancel", () => {
  test.each(["CREATED", "OPENED", "FAILED"])(
    "the simulated provider's `cancel` cancels an application in status %s and returns the application",
    async (status) => {
      const { providerId, token } = await aVerification(sandbox.url);
      if (status === "OPENED") await kycControl(sandbox.url, token, "open");
      if (status === "FAILED") await kycControl(sandbox.url, token, "submit", { outcome: "failed" });
      expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status });
      expect(await cancel(providerId)).toMatchObject({ status: 200, body: { status: "CANCELED", provider_id: providerId } });
    },
  );

  test.each([
    ["PROCESSING", "submit", { outcome: "approved", hold_seconds: 60 }],
    ["COMPLETED", "submit", { outcome: "approved" }],
    ["EXPIRED", "expire", {}],
  ])(
    "the simulated provider's `cancel` returns status 409 with the unchanged application if the application is %s",
    async (status, call, body) => {
      const { providerId, token } = await aVerification(sandbox.url);
      await kycControl(sandbox.url, token, call, body);
      const before = await objectAt(sandbox.url, providerId);
      expect(before.status).toBe(status);
      expect(await cancel(providerId)).toEqual({ status: 409, body: before });
      expect(await objectAt(sandbox.url, providerId)).toEqual(before);
    },
  );

  test("the simulated provider returns status 404 for an application that was created through another protocol, and does not cancel it", async () => {
    const { id } = await aSession(sandbox.url);
    expect(await callProvider(sandbox.url, "GET", `applications/${id}`)).toMatchObject({ status: 404 });
    expect(await cancel(id)).toMatchObject({ status: 404 });
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "Not Started" });
  });

  test("the simulated provider's `cancel` returns status 409 with the canceled application if the call is repeated", async () => {
    const { providerId } = await aVerification(sandbox.url);
    const firstResponse = await cancel(providerId);
    expect(await cancel(providerId)).toEqual({ status: 409, body: firstResponse.body });
  });
});

describe("review", () => {
  const review = (providerId: string, body: object) =>
    callProvider(sandbox.url, "POST", `applications/${providerId}/review`, body);
  const decision = { outcome: "APPROVED", reviewer: "officer", note: "Same person." };

  test.each(["APPROVED", "REJECTED"])(
    "the simulated provider's `review` applies the decision %s once, and returns status 409 for a second decision",
    async (outcome) => {
      const { providerId, token } = await aVerification(sandbox.url);
      await kycControl(sandbox.url, token, "submit", { outcome: "needs_review", aml_hit_count: 2 });
      const before = await objectAt(sandbox.url, providerId);
      const firstResponse = await review(providerId, { ...decision, outcome });
      expect(firstResponse).toMatchObject({
        status: 200,
        body: { status: "COMPLETED", verdict: outcome, sequence: before.sequence + 1 },
      });
      expect(firstResponse.body.aml_decision).toBe(outcome === "APPROVED" ? "CLEAR" : "CONFIRMED_MATCH");
      expect(await review(providerId, decision)).toEqual({ status: 409, body: firstResponse.body });
    },
  );

  test("the simulated provider's `review` returns status 409 with the application if the application needs no review", async () => {
    const { providerId } = await aVerification(sandbox.url);
    expect(await review(providerId, decision)).toMatchObject({ status: 409, body: { status: "CREATED" } });
  });

  test.each([{ outcome: "NEEDS_REVIEW" }, { reviewer: undefined }, { note: 1 }])(
    "the simulated provider's `review` returns status 422 for the body %j",
    async (changes) => {
      const { providerId } = await aVerification(sandbox.url);
      expect(await review(providerId, { ...decision, ...changes })).toMatchObject({ status: 422 });
    },
  );
});

describe("clock", () => {
  test("POST /sandbox/clock expires an unused verification link once, but not a link with a submission in progress or without remaining attempts", async () => {
    await using clockSandbox = await aSandbox();
    const unusedLink = await aVerification(clockSandbox.url, { ttl_hours: 1 });
    const inProgress = await aVerification(clockSandbox.url, { ttl_hours: 1 });
    const usedUpLink = await aVerification(clockSandbox.url, { ttl_hours: 1, max_attempts: 1 });
    await kycControl(clockSandbox.url, inProgress.token, "submit", { outcome: "approved", hold_seconds: 7200 });
    await kycControl(clockSandbox.url, usedUpLink.token, "submit", { outcome: "failed" });
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 3600 });
    expect(await objectAt(clockSandbox.url, unusedLink.providerId)).toMatchObject({ status: "EXPIRED", sequence: 2 });
    expect(await objectAt(clockSandbox.url, inProgress.providerId)).toMatchObject({ status: "PROCESSING" });
    expect(await objectAt(clockSandbox.url, usedUpLink.providerId)).toMatchObject({ status: "FAILED" });
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 3600 });
    expect(await objectAt(clockSandbox.url, inProgress.providerId)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
    expect(await objectAt(clockSandbox.url, unusedLink.providerId)).toMatchObject({ sequence: 2 });
  });

  test("POST /sandbox/clock applies both a failed check and the link's later expiry if the request advances the clock beyond both times", async () => {
    await using clockSandbox = await aSandbox();
    const { providerId, token } = await aVerification(clockSandbox.url, { ttl_hours: 1 });
    await kycControl(clockSandbox.url, token, "submit", { outcome: "failed", hold_seconds: 60 });
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 7200 });
    expect(await objectAt(clockSandbox.url, providerId)).toMatchObject({ status: "EXPIRED", attempts_used: 1 });
  });
});

describe("events", () => {
  test("the simulated provider's GET events returns the events after a cursor in order, or the same cursor if there are no new events", async () => {
    const start = (await callProvider(sandbox.url, "GET", "events?limit=500")).body.cursor;
    const { token, reference } = await aVerification(sandbox.url);
    await kycControl(sandbox.url, token, "submit", { outcome: "rejected" });
    const firstPage = (await callProvider(sandbox.url, "GET", `events?after=${start}&limit=3`)).body;
    const secondPage = (await callProvider(sandbox.url, "GET", `events?after=${firstPage.cursor}&limit=3`)).body;
    const events = [...firstPage.events, ...secondPage.events];
    expect(events.map(({ type }) => type)).toEqual(
      ["opened", "submitted", "processing", "completed"].map((type) => `application.${type}`),
    );
    expect(events.map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5]);
    expect(events[3]).toEqual({
      cursor: secondPage.cursor,
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: "application.completed",
      occurred_at: expect.stringMatching(/Z$/),
      sequence: 5,
      application: expect.objectContaining({ reference, verdict: "REJECTED", sequence: 5 }),
    });
    expect(JSON.stringify(events)).not.toContain("link_url");
    expect((await callProvider(sandbox.url, "GET", `events?after=${secondPage.cursor}`)).body).toEqual({
      events: [],
      cursor: secondPage.cursor,
    });
  });

  test.each(["after=x", "limit=0", "limit=501"])(
    "the simulated provider's GET events returns status 422 for the query ?%s",
    async (query) => {
      expect((await callProvider(sandbox.url, "GET", `events?${query}`)).status).toBe(422);
    },
  );
});

describe("a fault of the provider's API", () => {
  const setFault = (operation: string, mode: string) => control(sandbox.url, "PUT", "faults", { operation, mode });
  const withShortTimeout = () => ({ signal: AbortSignal.timeout(300) });

  test.each([
    ["timeout_before", 404],
    ["timeout_after", 200],
    ["reset_after", 200],
  ])(
    "the simulated provider's POST applications with the fault %s sends no response, and GET by reference then returns status %i",
    async (mode, expectedStatus) => {
      const creation = aCreation();
      await setFault("kyc_create", mode);
      await expect(callProvider(sandbox.url, "POST", "applications", creation, withShortTimeout())).rejects.toThrow();
      const { status, body } = await control(sandbox.url, "GET", `kyc?reference=${creation.reference}`);
      expect(status).toBe(expectedStatus);
      expect(body.calls).toHaveLength(1);
      expect(await callProvider(sandbox.url, "POST", "applications", creation)).toMatchObject({
        status: expectedStatus === 200 ? 200 : 201,
      });
    },
  );

  test("the simulated provider's POST applications with the fault `truncated` sends half of the response", async () => {
    const creation = aCreation();
    await setFault("kyc_create", "truncated");
    await expect(callProvider(sandbox.url, "POST", "applications", creation)).rejects.toThrow();
    expect((await control(sandbox.url, "GET", `kyc?reference=${creation.reference}`)).status).toBe(200);
  });

  test.each(["kyc_create", "kyc_get", "kyc_cancel"])(
    "the simulated provider's operation %s with the fault `error:<status>` returns the status of the fault and has no effect",
    async (operation) => {
      const { providerId } = await aVerification(sandbox.url);
      await setFault(operation, "error:422");
      const path = {
        kyc_create: "applications",
        kyc_get: `applications/${providerId}`,
        kyc_cancel: `applications/${providerId}/cancel`,
      };
      const method = operation === "kyc_get" ? "GET" : "POST";
      const body = operation === "kyc_create" ? aCreation() : undefined;
      const response = await callProvider(sandbox.url, method, path[operation as keyof typeof path], body);
      expect(response).toEqual({ status: 422, body: { error: "planted_fault", message: expect.any(String) } });
      expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "CREATED" });
    },
  );

  test("the simulated provider adds personal data to an application for the fault `leak:<word>`, and returns an error with the word for `leak_error:<word>`", async () => {
    const { providerId } = await aVerification(sandbox.url);
    await setFault("kyc_get", "leak:canary-1");
    const leakingObject = await objectAt(sandbox.url, providerId);
    expect(leakingObject).toMatchObject({ provider_id: providerId, status: "CREATED", first_name: "canary-1-first" });
    expect(await objectAt(sandbox.url, providerId)).not.toHaveProperty("first_name");

    const creation = aCreation();
    await setFault("kyc_create", "leak_error:canary-2");
    const leakingError = await callProvider(sandbox.url, "POST", "applications", creation);
    expect(leakingError).toMatchObject({
      status: 422,
      body: { error: "planted_fault", message: expect.stringContaining("canary-2") },
    });
    expect((await control(sandbox.url, "GET", `kyc?reference=${creation.reference}`)).status).toBe(404);
  });

  test("the simulated provider's `cancel` with the fault `timeout_after` cancels the application and sends no response", async () => {
    const { providerId } = await aVerification(sandbox.url);
    await setFault("kyc_cancel", "timeout_after");
    await expect(
      callProvider(sandbox.url, "POST", `applications/${providerId}/cancel`, undefined, withShortTimeout()),
    ).rejects.toThrow();
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
  ])("PUT /sandbox/faults rejects, for the operation %s, the fault %s", async (operation, mode) => {
    expect(await setFault(operation, mode)).toMatchObject({ status: 422 });
  });
});
