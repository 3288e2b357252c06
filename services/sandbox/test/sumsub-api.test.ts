import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { aReceiver, type ReceivedCallback, type Receiver } from "./a-receiver.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import {
  amlCaseAt,
  anApplicant,
  applicantAt,
  aSessionCreation,
  callDidit,
  callSumsub,
  createApplicant,
  createLink,
  stepsAt,
  type VendorVerification,
} from "./a-vendor.ts";
import { aNewReference, callProvider, kycControl } from "./a-verification.ts";

let sandbox: Sandbox;
let receiver: Receiver;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(async () => {
  receiver = await aReceiver();
  await setUp({ callback_url: receiver.url });
});
afterEach(async () => {
  await control(sandbox.url, "DELETE", "faults");
  await setUp({ sumsub_level: {}, webhook: {} });
  await receiver[Symbol.asyncDispose]();
});

const setUp = (setup: object) => control(sandbox.url, "PUT", "kyc-setup", setup);
const setFault = (operation: string, mode: string) => control(sandbox.url, "PUT", "faults", { operation, mode });
const call = (method: string, path: string, body?: object) => callSumsub(sandbox.url, method, path, body);
const act = (token: string, action: string, body: object = {}) => kycControl(sandbox.url, token, action, body);
const review = (id: string, action: string, body: object = {}) => call("POST", `/resources/applicants/${id}/-/${action}`, body);
const deactivate = (id: string) => call("PATCH", `/resources/applicants/${id}/presence/deactivated`);
const decide = async (submission: object, changes: Record<string, unknown> = {}, level = "amana") => {
  const applicant = await anApplicant(sandbox.url, changes, level);
  const { status } = await act(applicant.token, "submit", submission);
  expect(status).toBe(200);
  return { ...applicant, object: await applicantAt(sandbox.url, applicant.id) };
};
const callbacksOf = async ({ token }: VendorVerification) => (await control(sandbox.url, "GET", `kyc/${token}`)).body.callbacks;
const untilDelivered = (applicant: VendorVerification) =>
  expect.poll(async () => (await callbacksOf(applicant)).map(({ state }: { state: string }) => state)).not.toContain("pending");

describe("Sumsub authentication", () => {
  const path = "/resources/applicants/-/levels";
  const now = () => Math.floor(Date.now() / 1000);

  test("Sumsub accepts a signature that covers the path as sent, with its prefix and query", async () => {
    expect((await callSumsub(sandbox.url, "GET", `${path}?limit=5&name=a%20b`)).status).toBe(200);
    expect((await callSumsub(sandbox.url, "GET", path, undefined, { seconds: now() - 50 })).status).toBe(200);
  });

  test.each([
    ["a wrong secret", { secret: "wrong" }],
    ["a wrong token", { token: "sbx:wrong" }],
    ["a signature of the path without its prefix", { signedPath: path }],
    ["a signature of the path without its query", { signedPath: `/sumsub${path}` }],
    ["a signature of another body", { signedBody: "{}" }],
    ["a time 70 seconds in the past", { seconds: now() - 70 }],
    ["a time 90 seconds in the future", { seconds: now() + 90 }],
    ["no time", { seconds: Number.NaN }],
  ])("Sumsub returns status 401 with errorCode 4003 for a request with %s", async (_name, signing) => {
    const response = await callSumsub(sandbox.url, "GET", `${path}?limit=5`, undefined, signing);
    expect(response).toMatchObject({ status: 401, body: { code: 401, errorCode: 4003 } });
  });

  test.each([
    ["POST", "/resources/applicants?levelName=amana"],
    ["POST", "/resources/sdkIntegrations/levels/-/websdkLink"],
    ["GET", "/resources/applicants/unknown/one"],
    ["GET", "/resources/applicants/-;externalUserId=unknown/one"],
    ["GET", "/resources/applicants/unknown/requiredIdDocsStatus"],
    ["GET", "/resources/api/applicants/unknown/amlCase"],
    ["PATCH", "/resources/applicants/unknown/presence/deactivated"],
    ["POST", "/resources/applicants/unknown/-/approve"],
    ["POST", "/resources/applicants/unknown/-/reject"],
    ["GET", "/resources/api/clientWebhooks/webhook"],
    ["GET", "/resources/api/agent/settings/bgCheckTargets"],
  ])("Sumsub %s %s returns status 401 without a valid signature", async (method, target) => {
    const reference = aNewReference();
    const body = method === "POST" ? { externalUserId: reference } : undefined;
    const response = await callSumsub(sandbox.url, method, target, body, { secret: "wrong" });
    expect(response.status).toBe(401);
    expect((await control(sandbox.url, "GET", `kyc?reference=${reference}`)).status).toBe(404);
  });
});

describe("Sumsub POST /resources/applicants", () => {
  test("Sumsub POST /resources/applicants returns status 201 with the applicant", async () => {
    const externalUserId = aNewReference();
    const { status, body } = await createApplicant(sandbox.url, { externalUserId, lang: "fr" }, "amana id card");
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      externalUserId,
      type: "individual",
      requiredIdDocs: {
        docSets: [
          { idDocSetType: "IDENTITY", types: ["ID_CARD"] },
          { idDocSetType: "SELFIE", videoRequired: "passiveLiveness" },
        ],
      },
      review: { levelName: "amana id card", reviewStatus: "init", attemptCnt: 0 },
    });
    expect(body.review).not.toHaveProperty("reviewResult");
    expect(body).not.toHaveProperty("deleted");
  });

  test("Sumsub POST /resources/applicants returns status 409 with the existing applicant's id in the description for a known externalUserId", async () => {
    const { id, reference } = await anApplicant(sandbox.url);
    const { status, body } = await createApplicant(sandbox.url, { externalUserId: reference });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 409, errorCode: expect.any(Number), description: expect.stringContaining(id) });
    const found = await call("GET", `/resources/applicants/-;externalUserId=${encodeURIComponent(reference)}/one`);
    expect(found).toMatchObject({ status: 200, body: { id, externalUserId: reference } });
    expect((await call("GET", "/resources/applicants/-;externalUserId=unknown/one")).status).toBe(404);
  });

  test.each([
    [{ externalUserId: "" }, "amana"],
    [{ externalUserId: "x", metadata: [] }, "amana"],
    [{ externalUserId: "x", fixedInfo: { placeOfBirth: "x" } }, "amana"],
    [{ externalUserId: "x" }, "unknown level"],
  ])("Sumsub POST /resources/applicants returns status 400 for the body %j and the level %s", async (body, level) => {
    expect(await createApplicant(sandbox.url, body, level)).toMatchObject({ status: 400, body: { code: 400 } });
  });
});

describe("Sumsub POST websdkLink", () => {
  test("Sumsub POST websdkLink returns a new link of the same applicant on each call, and earlier links remain usable", async () => {
    const { reference, token } = await anApplicant(sandbox.url);
    const { status, body } = await createLink(sandbox.url, reference);
    expect(status).toBe(200);
    expect(body.url).toMatch(new RegExp(`^${sandbox.url}/verify/[A-Za-z0-9_-]{43}$`));
    const second = body.url.split("/").at(-1);
    expect(second).not.toBe(token);
    for (const link of [token, second]) {
      expect((await fetch(`${sandbox.url}/verify/${link}`)).status).toBe(200);
      expect((await control(sandbox.url, "GET", `kyc/${link}`)).body).toMatchObject({ reference, dialect: "sumsub" });
    }
    await act(second, "submit", { outcome: "approved" });
    expect(await act(token, "submit", { outcome: "approved" })).toMatchObject({ status: 409 });
  });

  test("Sumsub POST websdkLink returns a link that expires after ttlInSecs, and another call makes the expired link usable again", async () => {
    await using clockSandbox = await aSandbox();
    const { id, reference, token } = await anApplicant(clockSandbox.url);
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 3600 });
    expect((await fetch(`${clockSandbox.url}/verify/${token}`)).status).toBe(410);
    expect((await applicantAt(clockSandbox.url, id)).review.reviewStatus).toBe("init");
    await createLink(clockSandbox.url, reference);
    expect((await kycControl(clockSandbox.url, token, "submit", { outcome: "approved" })).status).toBe(200);
  });

  test.each([
    [404, { userId: "unknown" }],
    [404, { levelName: "amana passport" }],
    [400, { ttlInSecs: "72" }],
    [400, { ttlInSecs: 0 }],
    [400, { redirect: { successUrl: "nowhere" } }],
    [400, { redirect: { url: "http://shop.test" } }],
    [400, { externalUserId: "x" }],
  ])("Sumsub POST websdkLink returns status %i for %j", async (status, changes) => {
    const { reference } = await anApplicant(sandbox.url);
    expect((await createLink(sandbox.url, reference, changes)).status).toBe(status);
  });
});

describe("Sumsub GET one", () => {
  test("Sumsub GET of an applicant and of its steps returns the evidence of an approved applicant", async () => {
    const { id, reference, object } = await decide({
      outcome: "approved",
      document_type: "id_card",
      document_expiry: "2031-02-28",
      nationality: "TUN",
    });
    expect(object).toMatchObject({
      id,
      externalUserId: reference,
      info: { nationality: "TUN", idDocs: [{ idDocType: "ID_CARD", country: "DZA", validUntil: "2031-02-28" }] },
      review: {
        levelName: "amana",
        attemptCnt: 1,
        reviewStatus: "completed",
        reviewDate: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/),
        reviewResult: { reviewAnswer: "GREEN" },
      },
    });
    expect(object.review.reviewResult).toEqual({ reviewAnswer: "GREEN" });
    expect(await stepsAt(sandbox.url, id)).toMatchObject({
      IDENTITY: { idDocType: "ID_CARD", country: "DZA", reviewResult: { reviewAnswer: "GREEN" } },
      SELFIE: { reviewResult: { reviewAnswer: "GREEN" } },
    });
  });

  test.each([
    ["rejected", ["DOCUMENT_TAMPERED"], "completed", { reviewAnswer: "RED", reviewRejectType: "FINAL" }, ["FORGERY"]],
    ["rejected", ["UNDERAGE", "DUPLICATE"], "completed", { reviewAnswer: "RED" }, ["AGE_REQUIREMENT_MISMATCH", "DUPLICATE"]],
    ["needs_review", ["AML_MATCH"], "onHold", {}, ["SANCTIONS"]],
    ["failed", [], "completed", { reviewAnswer: "RED", reviewRejectType: "RETRY" }, ["LOW_QUALITY"]],
  ])(
    "Sumsub GET of an applicant with the outcome %s and the reasons %j returns the reviewStatus %s",
    async (outcome, reason_codes, reviewStatus, result, labels) => {
      const { object } = await decide({ outcome, reason_codes });
      expect(object.review).toMatchObject({ reviewStatus, reviewResult: { ...result, rejectLabels: labels } });
    },
  );

  test("Sumsub GET of an applicant still returns the reviewStatus `init` after the link is opened, and GET of the steps returns the chosen document", async () => {
    const { id, token } = await anApplicant(sandbox.url);
    await act(token, "open");
    expect((await applicantAt(sandbox.url, id)).review.reviewStatus).toBe("init");
    expect(await stepsAt(sandbox.url, id)).toEqual({ IDENTITY: null, SELFIE: null });
    const post = (action: string, value = "") =>
      fetch(`${sandbox.url}/verify/${token}/${action}`, { method: "POST", body: new URLSearchParams({ value }) });
    await post("start");
    await post("document", "passport");
    expect(await stepsAt(sandbox.url, id)).toEqual({ IDENTITY: { idDocType: "PASSPORT", country: "DZA" }, SELFIE: null });
  });

  test("a Sumsub applicant can submit again with the same link after each review with reviewRejectType RETRY", async () => {
    const { id, token } = await anApplicant(sandbox.url);
    for (const attempt of [1, 2, 3, 4]) {
      await act(token, "submit", { outcome: "failed" });
      const { review: state } = await applicantAt(sandbox.url, id);
      expect(state).toMatchObject({ attemptCnt: attempt, reviewResult: { reviewRejectType: "RETRY" } });
    }
    await act(token, "submit", { outcome: "approved" });
    expect((await applicantAt(sandbox.url, id)).review).toMatchObject({ attemptCnt: 5, reviewResult: { reviewAnswer: "GREEN" } });
  });

  test("Sumsub GET of an applicant returns `videoRequired: photoRequired` for the level `amana still`", async () => {
    const { object } = await decide({ outcome: "approved" }, {}, "amana still");
    expect(object.requiredIdDocs.docSets).toContainEqual(
      expect.objectContaining({ idDocSetType: "SELFIE", videoRequired: "photoRequired" }),
    );
  });

  test("Sumsub GET of an applicant, its steps and its AML case return the fields that the control call `submit` overrides", async () => {
    const answer = {
      type: "company",
      info: null,
      requiredIdDocsStatus: { SELFIE: null, PROOF_OF_RESIDENCE: { reviewResult: { reviewAnswer: "RED" } } },
      amlCase: null,
    };
    const { id, object } = await decide({ outcome: "approved", answer });
    expect(object).toMatchObject({ id, type: "company" });
    expect(object).not.toHaveProperty("info");
    expect(object).not.toHaveProperty("requiredIdDocsStatus");
    const steps = await stepsAt(sandbox.url, id);
    expect(steps).toMatchObject({ IDENTITY: expect.anything(), PROOF_OF_RESIDENCE: { reviewResult: { reviewAnswer: "RED" } } });
    expect(steps).not.toHaveProperty("SELFIE");
    expect((await amlCaseAt(sandbox.url, id)).status).toBe(404);
  });

  test("Sumsub GET of an applicant returns equal profile fields in fixedInfo and info, or different fields if the document has another name", async () => {
    const fixedInfo = { firstName: "Meriem", lastName: "Haddad" };
    const equal = await decide({ first_name: "meriem" }, { fixedInfo });
    expect(equal.object.review.reviewResult.reviewAnswer).toBe("GREEN");
    expect(equal.object.info).toMatchObject(equal.object.fixedInfo);
    const different = await decide({ first_name: "Yacine" }, { fixedInfo });
    expect(different.object.review).toMatchObject({
      reviewStatus: "onHold",
      reviewResult: { rejectLabels: ["PROBLEMATIC_APPLICANT_DATA"] },
    });
    expect(different.object.info.firstName).not.toBe(different.object.fixedInfo.firstName);
    expect(JSON.stringify([equal.object, different.object])).not.toMatch(/Meriem|Haddad|Yacine/i);
  });

  test("Sumsub responses contain a canary in each personal field", async () => {
    const { id, object } = await decide({ outcome: "rejected", aml_hit_count: 1 }, { fixedInfo: { firstName: "x" } });
    const [document] = object.info.idDocs;
    for (const value of [object.email, object.phone, object.ipCountry, object.fixedInfo.firstName, document.number]) {
      expect(value).toMatch(/^canary-/);
    }
    for (const name of ["firstName", "lastName", "dob", "mrzLine1"]) expect(document[name]).toMatch(/^canary-/);
    expect(object.review.reviewResult.moderationComment).toMatch(/^canary-/);
    expect((await amlCaseAt(sandbox.url, id)).body.hits[0].name).toMatch(/^canary-/);
    const error = await call("GET", "/resources/applicants/unknown/one");
    expect(error).toMatchObject({ status: 404, body: { correlationId: "canary-correlation" } });
    expect(error.body.description).toContain("canary-");
  });
});

describe("Sumsub GET amlCase", () => {
  test.each([
    [{ outcome: "approved" }, "GREEN", []],
    [{ aml_hit_count: 2 }, "RED", ["unknown", "unknown"]],
    [{ aml_hit_count: 1, aml_cleared: true }, "GREEN", ["false_positive"]],
  ])(
    "Sumsub GET amlCase, after the submission %j, returns the review %s and the hits %j",
    async (submission, answer, statuses) => {
      const { id, object } = await decide(submission);
      const { status, body } = await amlCaseAt(sandbox.url, id);
      expect(status).toBe(200);
      expect(body).toMatchObject({ targetEntityId: id, review: { answer } });
      expect(body.hits.map((hit: { review: { matchStatus: string } }) => hit.review.matchStatus)).toEqual(statuses);
      expect(object.review.reviewStatus).toBe(answer === "GREEN" ? "completed" : "onHold");
    },
  );

  test("Sumsub GET amlCase marks the hits as true_positive after a reviewer has rejected the applicant", async () => {
    const { id, token } = await decide({ aml_hit_count: 1 });
    await act(token, "review", { outcome: "rejected" });
    expect((await amlCaseAt(sandbox.url, id)).body.hits).toMatchObject([{ review: { matchStatus: "true_positive" } }]);
  });

  test("Sumsub GET amlCase returns status 404 before the applicant is checked", async () => {
    const { id } = await anApplicant(sandbox.url);
    expect((await amlCaseAt(sandbox.url, id)).status).toBe(404);
  });

  test("Sumsub GET amlCase returns status 429 with Retry-After if a caller exceeds its calls per minute", async () => {
    await using slowSandbox = await aSandbox({ sumsubAmlPerMinute: 2 });
    const { id } = await anApplicant(slowSandbox.url);
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await amlCaseAt(slowSandbox.url, id)).status);
    expect(statuses).toEqual([404, 404, 429]);
    const { status, headers } = await amlCaseAt(slowSandbox.url, id);
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(50);
    expect((await callSumsub(slowSandbox.url, "GET", `/resources/applicants/${id}/one`)).status).toBe(200);
  });
});

describe("Sumsub PATCH deactivated", () => {
  test.each(["init", "RETRY", "GREEN"])(
    "Sumsub PATCH deactivated keeps the review of an applicant in the state %s, and later operations return status 409 with errorCode 1008",
    async (state) => {
      const applicant = await anApplicant(sandbox.url);
      const { id, token, reference } = applicant;
      if (state !== "init") await act(token, "submit", { outcome: state === "GREEN" ? "approved" : "failed" });
      const { review: before } = await applicantAt(sandbox.url, id);
      expect((await deactivate(id)).status).toBe(200);
      expect((await applicantAt(sandbox.url, id)).review).toEqual(before);
      const operations = [deactivate(id), review(id, "approve"), review(id, "reject"), createLink(sandbox.url, reference)];
      for (const response of await Promise.all(operations)) {
        expect(response).toMatchObject({ status: 409, body: { errorCode: 1008 } });
      }
      expect((await act(token, "submit", { outcome: "approved" })).status).toBe(409);
      await untilDelivered(applicant);
      expect(receiver.received.at(-1)?.body).toMatchObject({ type: "applicantDeactivated", applicantId: id });
    },
  );

  test("Sumsub PATCH deactivated returns status 409 with errorCode 1006 while the applicant is checked", async () => {
    const { id, token } = await anApplicant(sandbox.url);
    await act(token, "submit", { outcome: "approved", hold_seconds: 60 });
    const { review: state } = await applicantAt(sandbox.url, id);
    expect(state.reviewStatus).toMatch(/^(pending|queued)$/);
    expect(await deactivate(id)).toMatchObject({ status: 409, body: { errorCode: 1006 } });
  });

  test("the sandbox control call `delete` marks a Sumsub applicant as deleted, and later operations return status 409 with errorCode 1008", async () => {
    const applicant = await anApplicant(sandbox.url);
    const { id, token } = applicant;
    await act(token, "submit", { outcome: "approved", hold_seconds: 3_600 });
    expect((await act(token, "delete")).status).toBe(200);
    expect(await applicantAt(sandbox.url, id)).toMatchObject({ id, deleted: true });
    expect(await deactivate(id)).toMatchObject({ status: 409, body: { errorCode: 1008 } });
    await control(sandbox.url, "POST", "clock", { advance_seconds: 3_600 });
    await untilDelivered(applicant);
    expect(receiver.types()).toEqual(["applicantCreated", "applicantPending", "applicantDeleted"]);
  });
});

describe("Sumsub POST approve and reject", () => {
  test("Sumsub POST approve and POST reject set the verdict of an applicant that is on hold or already has a verdict", async () => {
    const applicant = await decide({ outcome: "needs_review", reason_codes: ["AML_MATCH"] });
    const { id } = applicant;
    expect((await review(id, "reject", { note: "Amana officer" })).status).toBe(200);
    expect((await applicantAt(sandbox.url, id)).review).toMatchObject({
      reviewStatus: "completed",
      reviewResult: {
        reviewAnswer: "RED",
        reviewRejectType: "FINAL",
        rejectLabels: ["SANCTIONS", "EXTERNAL_DECISION_REJECTION"],
      },
    });
    expect((await review(id, "approve")).status).toBe(200);
    expect((await applicantAt(sandbox.url, id)).review.reviewResult).toEqual({ reviewAnswer: "GREEN" });
    await untilDelivered(applicant);
    expect(receiver.types().slice(-3)).toEqual(["applicantOnHold", "applicantReviewed", "applicantReviewed"]);
  });

  test.each(["approve", "reject"])(
    "Sumsub POST %s returns status 409 with Retry-After while the applicant is checked",
    async (action) => {
      const { id, token } = await anApplicant(sandbox.url);
      await act(token, "submit", { outcome: "needs_review", hold_seconds: 60 });
      const { status, headers, body } = await review(id, action);
      expect(status).toBe(409);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(body).not.toHaveProperty("errorCode");
    },
  );

  test("Sumsub POST approve returns status 400 for an unknown field or an unchecked applicant, and status 404 for an unknown applicant", async () => {
    const { id } = await anApplicant(sandbox.url);
    expect((await review(id, "approve")).status).toBe(400);
    expect((await review(id, "approve", { note: "x" })).status).toBe(400);
    expect((await review("000000000000000000000000", "approve")).status).toBe(404);
  });
});

describe("control calls on a Sumsub applicant", () => {
  test("the sandbox control call `reverse` replaces the verdict of a Sumsub applicant and causes a callback", async () => {
    const applicant = await decide({ outcome: "approved" });
    expect((await act(applicant.token, "reverse", { outcome: "rejected" })).status).toBe(200);
    const { review: state } = await applicantAt(sandbox.url, applicant.id);
    expect(state.reviewResult).toMatchObject({ reviewAnswer: "RED", reviewRejectType: "FINAL" });
    await untilDelivered(applicant);
    expect(receiver.received.at(-1)?.body).toMatchObject({ type: "applicantReviewed", reviewResult: { reviewAnswer: "RED" } });
  });

  test("the sandbox control call `resubmit` returns status 422 for a Sumsub applicant", async () => {
    const { token } = await decide({ outcome: "approved" });
    expect((await act(token, "resubmit")).status).toBe(422);
  });

  test("GET /sandbox/kyc?reference= lists the calls that the sandbox received for a Sumsub applicant, without personal data", async () => {
    const applicant = await anApplicant(sandbox.url, { email: "meriem@applicant.test", fixedInfo: { firstName: "Meriem" } });
    await call("GET", `/resources/applicants/-;externalUserId=${applicant.reference}/one`);
    const { body } = await control(sandbox.url, "GET", `kyc?reference=${applicant.reference}`);
    expect(body).toMatchObject({
      dialect: "sumsub",
      provider_id: applicant.id,
      calls: [{ operation: "kyc_create" }, { operation: "kyc_link" }, { operation: "kyc_get" }],
    });
    expect(JSON.stringify(body)).not.toMatch(/meriem/i);
  });

  test("the event list of Amana's own provider protocol contains no event of a Sumsub applicant", async () => {
    const { cursor } = (await callProvider(sandbox.url, "GET", "events?limit=500")).body;
    await decide({ outcome: "approved" });
    expect((await callProvider(sandbox.url, "GET", `events?after=${cursor}`)).body.events).toEqual([]);
  });
});

describe("Sumsub callbacks", () => {
  const isSigned = ({ headers, raw }: ReceivedCallback) =>
    headers["x-payload-digest-alg"] === "HMAC_SHA256_HEX" &&
    headers["x-payload-digest"] === createHmac("sha256", "provider-callback-secret").update(raw).digest("hex");

  test("the sandbox sends a signed Sumsub callback to KYC_CALLBACK_URL/sumsub after each change of an applicant, but not after the link is opened", async () => {
    const applicant = await anApplicant(sandbox.url);
    const { id, reference, token } = applicant;
    await act(token, "submit", { outcome: "failed" });
    await act(token, "submit", { outcome: "approved" });
    await untilDelivered(applicant);
    expect(receiver.received.map(({ body }) => [body.type, body.reviewStatus])).toEqual([
      ["applicantCreated", "init"],
      ["applicantPending", "pending"],
      ["applicantReviewed", "completed"],
      ["applicantPending", "pending"],
      ["applicantReviewed", "completed"],
    ]);
    for (const received of receiver.received) {
      expect(received.path).toBe("/callbacks/kyc/sumsub");
      expect(isSigned(received)).toBe(true);
      expect(received.raw).not.toContain(token);
    }
    expect(receiver.received[2]?.body.reviewResult).toMatchObject({ reviewRejectType: "RETRY" });
    expect(receiver.received[4]?.body).toEqual({
      applicantId: id,
      inspectionId: "canary-inspection",
      correlationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      levelName: "amana",
      externalUserId: reference,
      type: "applicantReviewed",
      sandboxMode: true,
      reviewStatus: "completed",
      reviewResult: { reviewAnswer: "GREEN" },
      createdAtMs: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/),
    });
  });

  test.each([
    [[500, 400, 302, 404], 5, "delivered"],
    [[500, 500, 500, 500, 500, 500], 5, "given_up"],
  ])(
    "the sandbox, after the responses %j to a Sumsub callback, has made %i attempts and sets the callback to %s",
    async (statuses, attempts, state) => {
      receiver.respondNext(...statuses);
      const applicant = await anApplicant(sandbox.url);
      await untilDelivered(applicant);
      expect(receiver.received).toHaveLength(attempts);
      expect(await callbacksOf(applicant)).toMatchObject([{ type: "applicantCreated", state }]);
    },
  );

  test("the sandbox applies each of the faults `bad_signature`, `duplicate`, `drop`, `reorder` and `leak` to Sumsub callbacks", async () => {
    const withFault = async (mode: string) => {
      const applicant = await anApplicant(sandbox.url);
      await untilDelivered(applicant);
      receiver.received.length = 0;
      await setFault("kyc_callback", mode);
      await act(applicant.token, "submit", { outcome: "approved" });
      await untilDelivered(applicant);
      return receiver.received;
    };
    expect((await withFault("bad_signature")).map(isSigned)).toEqual([false, true]);
    await withFault("duplicate");
    expect(receiver.types()).toEqual(["applicantPending", "applicantPending", "applicantReviewed"]);
    await withFault("drop");
    expect(receiver.types()).toEqual(["applicantReviewed"]);
    await withFault("reorder");
    expect(receiver.types()).toEqual(["applicantReviewed", "applicantPending"]);
    const [leaked] = await withFault("leak:word");
    expect(leaked && isSigned(leaked)).toBe(true);
    expect(leaked?.body).toMatchObject({ type: "applicantPending", first_name: "word-first" });
  });
});

describe("Sumsub configuration", () => {
  test.each([
    ["amana", ["ID_CARD", "PASSPORT"], "passiveLiveness"],
    ["amana id card", ["ID_CARD"], "passiveLiveness"],
    ["amana passport still", ["PASSPORT"], "photoRequired"],
  ])("Sumsub GET level returns the requirements of the level %s", async (name, types, videoRequired) => {
    const { items, totalItems } = (await call("GET", "/resources/applicants/-/levels")).body;
    expect(items).toHaveLength(totalItems);
    const { id } = items.find((level: { name: string }) => level.name === name);
    expect((await call("GET", `/resources/applicants/-/levels/${id}`)).body).toMatchObject({
      id,
      name,
      applicantType: "individual",
      websdkNext: true,
      requiredIdDocs: {
        includedCountries: ["DZA"],
        docSets: [
          { idDocSetType: "IDENTITY", types },
          { idDocSetType: "SELFIE", videoRequired },
        ],
      },
    });
    expect((await call("GET", "/resources/applicants/-/levels/unknown")).status).toBe(404);
  });

  test("PUT /sandbox/kyc-setup overrides fields of each Sumsub level, and removes fields that the request sets to null", async () => {
    await setUp({ sumsub_level: { websdkNext: false, applicantType: null } });
    const { items } = (await call("GET", "/resources/applicants/-/levels")).body;
    const { body } = await call("GET", `/resources/applicants/-/levels/${items[0].id}`);
    expect(body.websdkNext).toBe(false);
    expect(body).not.toHaveProperty("applicantType");
  });

  test("the simulated Sumsub API returns the webhook, the AML sources and the current time", async () => {
    expect((await call("GET", "/resources/api/clientWebhooks/webhook")).body).toMatchObject({
      id: "webhook",
      target: `${receiver.url}/sumsub`,
      types: expect.arrayContaining(["applicantReviewed", "applicantOnHold", "applicantPersonalDataDeleted"]),
      disabled: false,
      signatureAlgorithm: "HMAC_SHA256_HEX",
      secretKey: "provider-callback-secret",
    });
    expect((await call("GET", "/resources/api/agent/settings/bgCheckTargets")).body.allowed).toContain("WATCHLISTS");
    const { headers, status } = await call("GET", "/resources/status/api");
    expect(status).toBe(200);
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).toBeLessThan(30_000);
  });
});

describe("a fault of Sumsub's API", () => {
  const operations = {
    kyc_create: (_applicant: VendorVerification) => createApplicant(sandbox.url, { externalUserId: aNewReference() }),
    kyc_link: ({ reference }: VendorVerification) => createLink(sandbox.url, reference),
    kyc_get: ({ id }: VendorVerification) => call("GET", `/resources/applicants/${id}/requiredIdDocsStatus`),
    kyc_aml: ({ id }: VendorVerification) => amlCaseAt(sandbox.url, id),
    kyc_review: ({ id }: VendorVerification) => review(id, "approve"),
    kyc_cancel: ({ id }: VendorVerification) => deactivate(id),
  };
  const names = Object.keys(operations) as (keyof typeof operations)[];

  test.each(names)(
    "the Sumsub operation %s with the fault `error:503` returns an error in Sumsub's format and has no effect",
    async (name) => {
      const applicant = await decide({ outcome: "needs_review" });
      await setFault(name, "error:503");
      expect(await operations[name](applicant)).toMatchObject({
        status: 503,
        body: { code: 503, description: expect.any(String) },
      });
      expect((await applicantAt(sandbox.url, applicant.id)).review.reviewStatus).toBe("onHold");
    },
  );

  test.each(names)(
    "the Sumsub operation %s with the fault `reset_after` takes effect and resets the connection",
    async (name) => {
      const applicant = await decide({ outcome: "needs_review" });
      await setFault(name, "reset_after");
      await expect(operations[name](applicant)).rejects.toThrow();
      const repeatedCall = await operations[name](applicant);
      expect(repeatedCall.status).toBe(name === "kyc_cancel" ? 409 : name === "kyc_create" ? 201 : 200);
      if (name === "kyc_review") expect((await applicantAt(sandbox.url, applicant.id)).review.reviewStatus).toBe("completed");
    },
  );

  test("the simulated Sumsub API adds personal data to a response for the fault `leak:<word>`, and returns status 400 with the word for `leak_error:<word>`", async () => {
    const { id } = await anApplicant(sandbox.url);
    await setFault("kyc_get", "leak:word");
    expect(await applicantAt(sandbox.url, id)).toMatchObject({ id, document_number: "word-number" });
    await setFault("kyc_create", "leak_error:word");
    const error = await createApplicant(sandbox.url, { externalUserId: aNewReference() });
    expect(error).toMatchObject({ status: 400, body: { description: expect.stringContaining("word") } });
  });
});

test("the sandbox uses the levels, workflows and credentials that readConfig returns", async () => {
  const { sumsubLevels, sumsubSecretKey, diditWorkflows, diditApiKey } = readConfig({
    KYC_SUMSUB_LEVEL_PASSPORT_STILL: "passport photograph",
    KYC_SUMSUB_SECRET_KEY: "another-secret",
    KYC_DIDIT_WORKFLOW_ID: "44444444-4444-4444-8444-444444444444",
    KYC_DIDIT_API_KEY: "another-key",
  });
  await using configured = await aSandbox({ sumsubLevels, sumsubSecretKey, diditWorkflows, diditApiKey });
  const path = "/resources/applicants?levelName=passport%20photograph";
  const applicant = await callSumsub(configured.url, "POST", path, { externalUserId: "x" }, { secret: "another-secret" });
  expect(applicant).toMatchObject({ status: 201, body: { review: { levelName: "passport photograph" } } });
  expect(applicant.body.requiredIdDocs.docSets).toMatchObject([{ types: ["PASSPORT"] }, { videoRequired: "photoRequired" }]);
  const creation = aSessionCreation({ workflow_id: diditWorkflows.video });
  const session = await callDidit(configured.url, "POST", "/v3/session/", creation, "another-key");
  expect(session).toMatchObject({ status: 201, body: { workflow_id: "44444444-4444-4444-8444-444444444444" } });
});
