import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import { aVerification, callProvider, kycControl, objectAt } from "./a-verification.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const submit = (token: string, body: object) => kycControl(sandbox.url, token, "submit", body);
const submitNew = async (body: object, creation: Record<string, unknown> = {}) => {
  const { token } = await aVerification(sandbox.url, creation);
  return (await submit(token, body)).body;
};
const codes = (object: { reason_codes: { code: string }[] }) => object.reason_codes.map(({ code }) => code);

test("the sandbox control call `open` sets the status OPENED, and a repeated call has no effect", async () => {
  const { token } = await aVerification(sandbox.url);
  const first = await kycControl(sandbox.url, token, "open");
  expect(first).toMatchObject({ status: 200, body: { status: "OPENED", sequence: 2 } });
  expect(await kycControl(sandbox.url, token, "open")).toEqual(first);
});

describe("submit", () => {
  test.each([
    ["approved", { status: "COMPLETED", verdict: "APPROVED", reason_codes: [] }],
    ["rejected", { status: "COMPLETED", verdict: "REJECTED", reason_codes: [{ code: "DOCUMENT_UNREADABLE" }] }],
    ["needs_review", { status: "COMPLETED", verdict: "NEEDS_REVIEW", reason_codes: [] }],
    ["failed", { status: "FAILED", error_message: expect.any(String), reason_codes: [] }],
    ["APPROVED", { status: "COMPLETED", verdict: "APPROVED" }],
  ])(
    "the sandbox control call `submit` opens the link and completes the application with the outcome %s",
    async (outcome, expected) => {
      const object = await submitNew({ outcome });
      expect(object).toMatchObject({ ...expected, sequence: 5, attempts_used: 1 });
    },
  );

  test("the sandbox control call `submit` returns the application with all the evidence that the tester chose", async () => {
    const object = await submitNew({
      outcome: "rejected",
      reason_codes: ["FACE_MISMATCH", { code: "LIVENESS_FAILED", message: "No movement." }, "FACE_MISMATCH"],
      document_type: "passport",
      document_expiry: "2031-02-28",
      nationality: "TUN",
      aml_hit_count: 1,
    });
    expect(object).toMatchObject({
      verdict: "REJECTED",
      reason_codes: [{ code: "FACE_MISMATCH" }, { code: "LIVENESS_FAILED", message: "No movement." }, { code: "AML_MATCH" }],
      liveness_outcome: "FAILED",
      face_match_outcome: "FAILED",
      document_type: "passport",
      document_expiry: "2031-02-28",
      nationality: "TUN",
      aml_hit_count: 1,
      aml_decision: "POSSIBLE_MATCH",
      decision_summary: expect.any(String),
      completed_at: expect.stringMatching(/Z$/),
    });
  });

  test("the sandbox control call `submit` keeps the status PROCESSING for hold_seconds, and returns status 409 for another submission during this time", async () => {
    await using clockSandbox = await aSandbox();
    const { token, providerId } = await aVerification(clockSandbox.url);
    const submission = await kycControl(clockSandbox.url, token, "submit", { outcome: "approved", hold_seconds: 60 });
    expect(submission.body).toMatchObject({ status: "PROCESSING", sequence: 4 });
    expect(await kycControl(clockSandbox.url, token, "submit", { outcome: "approved" })).toMatchObject({
      status: 409,
      body: { error: "in_progress" },
    });
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 30 });
    expect((await objectAt(clockSandbox.url, providerId)).status).toBe("PROCESSING");
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 30 });
    expect(await objectAt(clockSandbox.url, providerId)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
  });

  test("the sandbox control call `submit` accepts another submission after a failure while attempts remain, and returns status 409 when none remain", async () => {
    const { token } = await aVerification(sandbox.url, { max_attempts: 2 });
    await submit(token, { outcome: "failed" });
    expect(await kycControl(sandbox.url, token, "open")).toMatchObject({ body: { status: "OPENED", attempts_used: 1 } });
    const lastAttempt = await submit(token, { outcome: "failed" });
    expect(lastAttempt.body).toMatchObject({ status: "FAILED", attempts_used: 2 });
    for (const call of ["submit", "open", "expire"]) {
      expect(await kycControl(sandbox.url, token, call, {})).toMatchObject({
        status: 409,
        body: { error: "dead_link", message: expect.stringContaining("attempts"), application: lastAttempt.body },
      });
    }
  });

  test("the sandbox control call `submit` removes the error message of an earlier failure if the submission is approved", async () => {
    const { token } = await aVerification(sandbox.url);
    await submit(token, { outcome: "failed" });
    const { body } = await submit(token, { outcome: "approved" });
    expect(body).toMatchObject({ status: "COMPLETED", attempts_used: 2, sequence: 8 });
    expect(body).not.toHaveProperty("error_message");
  });

  test.each(["cancel", "expire", "submit"])(
    "the sandbox control call `submit` returns status 409 if the call `%s` has made the link unusable",
    async (end) => {
      const { token, providerId } = await aVerification(sandbox.url);
      if (end === "cancel") await callProvider(sandbox.url, "POST", `applications/${providerId}/cancel`);
      else await kycControl(sandbox.url, token, end, {});
      const before = await objectAt(sandbox.url, providerId);
      expect(await submit(token, { outcome: "approved" })).toMatchObject({ status: 409, body: { error: "dead_link" } });
      expect(await objectAt(sandbox.url, providerId)).toEqual(before);
    },
  );

  test.each([
    { outcome: "maybe" },
    { outcome: "approved", reason_codes: ["BAD_LUCK"] },
    { outcome: "approved", reason_codes: "AML_MATCH" },
    { outcome: "approved", document_type: "visa" },
    { outcome: "approved", document_expiry: "2031-02-30" },
    { outcome: "approved", nationality: "DZ" },
    { outcome: "approved", aml_hit_count: -1 },
    { outcome: "approved", hold_seconds: "5" },
    { outcome: "approved", first_name: 5 },
  ])("the sandbox control call `submit` returns status 422 for %j and does not change the application", async (body) => {
    const { token, providerId } = await aVerification(sandbox.url);
    expect(await submit(token, body)).toMatchObject({ status: 422, body: { problems: [expect.any(String)] } });
    expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "CREATED" });
  });
});

describe("overrides of a submission", () => {
  const overriddenFields = {
    liveness_outcome: null,
    face_match_outcome: "PERHAPS",
    aml_hit_count: "many",
    reason_codes: [{ code: "NEW_CODE", message: "Zoé has a new reason." }, 5],
    decision_summary: "Zoé was accepted.",
    favourite_colour: "blue",
  };

  test("the sandbox control call `submit` with `answer` replaces, adds and removes fields in the API response and the callback", async () => {
    const { token, providerId } = await aVerification(sandbox.url);
    await submit(token, { outcome: "approved", answer: overriddenFields });
    const { liveness_outcome: _removed, ...overrides } = overriddenFields;
    const object = await objectAt(sandbox.url, providerId);
    expect(object).toMatchObject({ status: "COMPLETED", verdict: "APPROVED", document_type: "id_card", ...overrides });
    expect(object).not.toHaveProperty("liveness_outcome");
    const { callbacks } = (await control(sandbox.url, "GET", `kyc/${token}`)).body;
    expect(callbacks.at(-1)).toMatchObject({ type: "application.completed", application: overrides });
    expect(callbacks.at(-2).application).not.toHaveProperty("favourite_colour");
  });

  test("the sandbox control call `submit` applies `answer` to the result of the check, including a failure, but not to the next attempt", async () => {
    await using clockSandbox = await aSandbox();
    const { token, providerId } = await aVerification(clockSandbox.url, { max_attempts: 2 });
    const settings = { outcome: "failed", answer: { error_message: "Zoé moved." }, hold_seconds: 60 };
    await kycControl(clockSandbox.url, token, "submit", settings);
    expect(await objectAt(clockSandbox.url, providerId)).not.toHaveProperty("error_message");
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 60 });
    expect(await objectAt(clockSandbox.url, providerId)).toMatchObject({ status: "FAILED", error_message: "Zoé moved." });
    await kycControl(clockSandbox.url, token, "submit", { outcome: "approved" });
    expect(await objectAt(clockSandbox.url, providerId)).not.toHaveProperty("error_message");
  });

  test("the sandbox control call `submit` with `answer` can require a review, and the reviewer's decision then replaces only the verdict", async () => {
    const { token } = await aVerification(sandbox.url);
    await submit(token, { outcome: "approved", answer: { verdict: "NEEDS_REVIEW", liveness_outcome: "INCONCLUSIVE" } });
    expect(await kycControl(sandbox.url, token, "review", { outcome: "rejected" })).toMatchObject({
      status: 200,
      body: { verdict: "REJECTED", liveness_outcome: "INCONCLUSIVE" },
    });
  });

  test.each([[[]], ["text"], [null]])(
    "the sandbox control call `submit` returns status 422 if `answer` is %j, which is not an object",
    async (answer) => {
      const { token } = await aVerification(sandbox.url);
      expect(await submit(token, { outcome: "approved", answer })).toMatchObject({
        status: 422,
        body: { problems: [expect.stringMatching(/^answer must be/)] },
      });
    },
  );
});

describe("provider's rules without a chosen outcome", () => {
  const profile = { first_name: "Zoé Amel", last_name: "Ben-Ali", birth_date: "1990-05-17", address: "anything" };

  test.each([
    ["APPROVED for valid documents", {}, {}, "APPROVED", []],
    ["REJECTED for an expired document", { document_expiry: "2020-01-31" }, {}, "REJECTED", ["DOCUMENT_EXPIRED"]],
    ["NEEDS_REVIEW for an AML match", { aml_hit_count: 1 }, {}, "NEEDS_REVIEW", ["AML_MATCH"]],
    ["NEEDS_REVIEW if no video was required", {}, { require_video: false }, "NEEDS_REVIEW", []],
    [
      "REJECTED for a document type that is not allowed",
      { document_type: "id_card" },
      { allowed_documents: ["passport"] },
      "REJECTED",
      ["DOCUMENT_NOT_ALLOWED"],
    ],
    ["REJECTED for a tampered document", { reason_codes: ["DOCUMENT_TAMPERED"] }, {}, "REJECTED", ["DOCUMENT_TAMPERED"]],
    [
      "NEEDS_REVIEW if the document's name differs from the profile",
      { first_name: "Zohra" },
      { profile },
      "NEEDS_REVIEW",
      ["PROFILE_MISMATCH"],
    ],
    [
      "NEEDS_REVIEW if the document's birth date differs from the profile",
      { birth_date: "1990-05-18" },
      { profile },
      "NEEDS_REVIEW",
      ["PROFILE_MISMATCH"],
    ],
    [
      "APPROVED if the document has the profile's name in capitals",
      { first_name: "ZOE  AMEL", last_name: "BEN ALI" },
      { profile },
      "APPROVED",
      [],
    ],
    ["APPROVED for any name if the application has no profile", { first_name: "Zohra" }, {}, "APPROVED", []],
  ])(
    "the simulated provider's rules, without an outcome from the tester, return the verdict %s",
    async (_name, body, creation, verdict, reasons) => {
      const object = await submitNew(body, creation);
      expect(object).toMatchObject({ status: "COMPLETED", verdict });
      expect(codes(object)).toEqual(reasons);
    },
  );

  test("the simulated provider's rules return the liveness outcome NOT_PERFORMED if no video is required", async () => {
    expect(await submitNew({}, { require_video: false })).toMatchObject({ liveness_outcome: "NOT_PERFORMED" });
    expect(await submitNew({})).toMatchObject({ liveness_outcome: "PASSED", face_match_outcome: "PASSED" });
  });

  test("the sandbox control call `submit` with an outcome overrides the verdict of the simulated provider's rules, but not the evidence", async () => {
    const object = await submitNew(
      { outcome: "approved", document_expiry: "2020-01-31", aml_hit_count: 3, first_name: "Zohra" },
      { require_video: false, profile },
    );
    expect(object).toMatchObject({
      verdict: "APPROVED",
      document_expiry: "2020-01-31",
      aml_hit_count: 3,
      liveness_outcome: "NOT_PERFORMED",
      reason_codes: [{ code: "PROFILE_MISMATCH" }],
    });
  });

  test("the simulated provider's rules also compare the profile in a second attempt", async () => {
    const { token } = await aVerification(sandbox.url, { profile });
    await submit(token, { outcome: "failed" });
    expect(codes((await submit(token, { last_name: "Other" })).body)).toEqual(["PROFILE_MISMATCH"]);
  });
});

describe("review", () => {
  test.each(["approved", "REJECTED"])(
    "the sandbox control call `review` applies the decision %s once, and returns status 409 if the call is repeated",
    async (outcome) => {
      const { token } = await aVerification(sandbox.url);
      await submit(token, { outcome: "needs_review" });
      const firstReview = await kycControl(sandbox.url, token, "review", { outcome });
      expect(firstReview).toMatchObject({ status: 200, body: { verdict: outcome.toUpperCase(), sequence: 6 } });
      expect(await kycControl(sandbox.url, token, "review", { outcome })).toMatchObject({
        status: 409,
        body: { error: "no_review_awaited" },
      });
    },
  );

  test("the sandbox control call `review` returns status 422 for an invalid outcome", async () => {
    const { token } = await aVerification(sandbox.url);
    expect(await kycControl(sandbox.url, token, "review", { outcome: "maybe" })).toMatchObject({ status: 422 });
  });
});

test("the sandbox control call `expire` sets the status EXPIRED and ends the link immediately", async () => {
  const { token, providerId } = await aVerification(sandbox.url);
  const { body } = await kycControl(sandbox.url, token, "expire");
  expect(body).toMatchObject({ status: "EXPIRED", sequence: 2 });
  expect(Math.abs(Date.parse(body.link_expires_at) - Date.now())).toBeLessThan(60_000);
  expect(await objectAt(sandbox.url, providerId)).toMatchObject({ status: "EXPIRED" });
});

test.each(["open", "submit", "review", "expire"])(
  "the sandbox control call `%s` returns status 404 for an unknown link",
  async (call) => {
    expect(await kycControl(sandbox.url, "unknown", call, {})).toMatchObject({ status: 404, body: { error: "unknown_link" } });
  },
);

test("GET /sandbox/kyc/{token} returns the received calls without personal data of the applicant", async () => {
  const { token, providerId, reference } = await aVerification(sandbox.url, {
    applicant_email: "zoe@example.test",
    applicant_phone: "+213550000001",
    profile: { first_name: "Zoé" },
    max_attempts: 2,
  });
  await objectAt(sandbox.url, providerId);
  const { status, body } = await control(sandbox.url, "GET", `kyc/${token}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "CREATED", link_url: expect.stringContaining(token), attempts_left: 2, callbacks: [] });
  expect(body.calls.map(({ operation }: { operation: string }) => operation)).toEqual(["kyc_create", "kyc_get"]);
  expect(body.calls[0].parameters).toMatchObject({ reference, max_attempts: 2, applicant_email: "received, not kept" });
  expect(JSON.stringify(body)).not.toMatch(/zoe|550000001|profile|first_name/i);
  expect((await control(sandbox.url, "GET", `kyc?reference=${reference}`)).body).toEqual(body);
});
