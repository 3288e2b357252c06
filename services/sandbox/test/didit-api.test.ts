import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aReceiver, type ReceivedCallback, type Receiver } from "./a-receiver.ts";
import { aSandbox, control } from "./a-sandbox.ts";
import {
  aSession,
  aSessionCreation,
  callDidit,
  decisionAt,
  type VendorVerification,
  workflowId,
  workflowIdStill,
} from "./a-vendor.ts";
import { aNewReference, aVerification, callProvider, kycControl } from "./a-verification.ts";

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
  await setUp({ didit_workflow: {}, webhook: {} });
  await receiver[Symbol.asyncDispose]();
});

const setUp = (setup: object) => control(sandbox.url, "PUT", "kyc-setup", setup);
const setFault = (operation: string, mode: string) => control(sandbox.url, "PUT", "faults", { operation, mode });
const call = (method: string, path: string, body?: object) => callDidit(sandbox.url, method, path, body);
const create = (changes: Record<string, unknown> = {}) => call("POST", "/v3/session/", aSessionCreation(changes));
const act = (token: string, action: string, body: object = {}) => kycControl(sandbox.url, token, action, body);
const updateStatus = (id: string, body: object) => call("PATCH", `/v3/session/${id}/update-status/`, body);
const decide = async (submission: object, changes: Record<string, unknown> = {}) => {
  const session = await aSession(sandbox.url, changes);
  const { status } = await act(session.token, "submit", submission);
  expect(status).toBe(200);
  return { ...session, decision: await decisionAt(sandbox.url, session.id) };
};
const callbacksOf = async ({ token }: VendorVerification) => (await control(sandbox.url, "GET", `kyc/${token}`)).body.callbacks;
const untilDelivered = (session: VendorVerification) =>
  expect.poll(async () => (await callbacksOf(session)).map(({ state }: { state: string }) => state)).not.toContain("pending");

describe("Didit POST /v3/session/", () => {
  test("Didit POST /v3/session/ returns status 201 with the session and the link to the sandbox's verification page", async () => {
    const { status, body } = await create({ vendor_data: "didit-first" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      session_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      vendor_data: "didit-first",
      status: "Not Started",
      workflow_id: workflowId,
      url: expect.stringMatching(new RegExp(`^${sandbox.url}/verify/[A-Za-z0-9_-]{43}$`)),
    });
    expect((await fetch(body.url)).status).toBe(200);
    expect((await decisionAt(sandbox.url, body.session_id)).status).toBe("In Progress");
  });

  test("Didit POST /v3/session/ returns the existing session while a session with the same vendor_data is unfinished", async () => {
    const reference = aNewReference();
    const first = await create({ vendor_data: reference });
    const second = await create({ vendor_data: reference, language: "fr" });
    expect(second).toMatchObject({ status: 201, body: first.body });
  });

  test("Didit POST /v3/session/ returns a new session for a known vendor_data if the workflow differs or the earlier session has finished", async () => {
    const session = await aSession(sandbox.url);
    const stillSession = await create({ vendor_data: session.reference, workflow_id: workflowIdStill });
    expect(stillSession.body.session_id).not.toBe(session.id);
    expect((await create({ vendor_data: session.reference })).body.session_id).toBe(session.id);
    await act(session.token, "submit", { outcome: "rejected" });
    const newSession = await create({ vendor_data: session.reference });
    expect(newSession.body).toMatchObject({ status: "Not Started" });
    expect(newSession.body.session_id).not.toBe(session.id);
    const newest = await control(sandbox.url, "GET", `kyc?reference=${session.reference}`);
    expect(newest.body).toMatchObject({ provider_id: newSession.body.session_id, dialect: "didit" });
  });

  test.each([
    ["metadata", { metadata: "{}" }],
    ["workflow_id", { workflow_id: "33333333-3333-4333-8333-333333333333" }],
    ["vendor_data", { vendor_data: "" }],
    ["language", { language: "xx" }],
    ["callback", { callback: "nowhere" }],
    ["callback_method", { callback_method: "all" }],
    ["contact_details", { contact_details: { fax: "1" } }],
    ["expected_details", { expected_details: { address: "1" } }],
    ["expected_details", { expected_details: { expected_document_types: ["DL"] } }],
  ])("Didit POST /v3/session/ returns status 400 with an error at the field %s for %j", async (field, changes) => {
    const { status, body } = await create(changes);
    expect(status).toBe(400);
    expect(body).toEqual({ [field]: [expect.any(String)] });
  });

  test("Didit POST /v3/session returns status 404, because the slash at the end of the path is missing", async () => {
    expect((await call("POST", "/v3/session", aSessionCreation())).status).toBe(404);
  });
});

test.each([
  ["POST", "/v3/session/"],
  ["GET", "/v3/session/unknown/decision/"],
  ["DELETE", "/v3/session/unknown/delete/"],
  ["PATCH", "/v3/session/unknown/update-status/"],
  ["GET", "/v3/sessions/unknown/reviews/"],
  ["GET", "/v3/sessions/?vendor_data=x"],
  ["POST", "/v3/users/delete/"],
  ["GET", "/v3/workflows/"],
  ["GET", "/v3/webhook/destinations/x/"],
  ["GET", "/v3/billing/balance/"],
])("Didit %s %s returns status 403 if the API key is wrong", async (method, path) => {
  const body = method === "GET" || method === "DELETE" ? undefined : aSessionCreation();
  const response = await callDidit(sandbox.url, method, path, body, "wrong");
  expect(response).toMatchObject({ status: 403, body: { detail: expect.any(String) } });
});

describe("Didit GET decision", () => {
  test("Didit GET decision returns no check results before the submission and during the check", async () => {
    const { id, token } = await aSession(sandbox.url);
    const empty = { id_verifications: null, liveness_checks: null, face_matches: null, aml_screenings: null };
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "Not Started", session_kind: "user", ...empty });
    await act(token, "submit", { outcome: "approved", hold_seconds: 60 });
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "In Progress", environment: "sandbox", ...empty });
  });

  test("Didit GET decision returns all evidence of an approved session", async () => {
    const { decision, id, reference } = await decide({
      outcome: "approved",
      document_type: "id_card",
      document_expiry: "2031-02-28",
      nationality: "TUN",
    });
    expect(decision).toMatchObject({
      session_id: id,
      vendor_data: reference,
      status: "Approved",
      id_verifications: [
        { status: "Approved", document_type: "Identity Card", expiration_date: "2031-02-28", nationality: "TUN", warnings: [] },
      ],
      liveness_checks: [{ status: "Approved", method: "ACTIVE_3D", warnings: [] }],
      face_matches: [{ status: "Approved", warnings: [] }],
      aml_screenings: [{ status: "Approved", total_hits: 0, hits: [], warnings: [] }],
    });
  });

  test.each([
    ["rejected", ["DOCUMENT_EXPIRED"], "Declined", "id_verifications", "Declined", "DOCUMENT_EXPIRED", "error"],
    ["rejected", ["LIVENESS_FAILED"], "Declined", "liveness_checks", "Declined", "LOW_LIVENESS_SCORE", "error"],
    ["needs_review", ["FACE_MISMATCH"], "In Review", "face_matches", "In Review", "LOW_FACE_MATCH_SIMILARITY", "warning"],
    ["needs_review", ["AML_MATCH"], "In Review", "aml_screenings", "In Review", "POSSIBLE_MATCH_FOUND", "warning"],
  ])(
    "Didit GET decision, for the outcome %s with %j, returns the status %s and a warning in %s",
    async (outcome, reason_codes, status, feature, featureStatus, risk, log_type) => {
      const { decision } = await decide({ outcome, reason_codes });
      expect(decision.status).toBe(status);
      expect(decision[feature]).toMatchObject([{ status: featureStatus, warnings: [{ risk, log_type }] }]);
    },
  );

  test("Didit GET decision returns AML hits as Unreviewed, or as False Positive if the tester set aml_cleared", async () => {
    const unreviewed = await decide({ aml_hit_count: 2 });
    expect(unreviewed.decision.status).toBe("In Review");
    expect(unreviewed.decision.aml_screenings).toMatchObject([
      { total_hits: 2, hits: [{ review_status: "Unreviewed" }, { review_status: "Unreviewed" }] },
    ]);
    const cleared = await decide({ aml_hit_count: 1, aml_cleared: true });
    expect(cleared.decision.status).toBe("Approved");
    expect(cleared.decision.aml_screenings).toMatchObject([
      { status: "Approved", total_hits: 1, hits: [{ review_status: "False Positive" }], warnings: [] },
    ]);
  });

  test("Didit GET decision returns fields that the control call `submit` overrides, and omits fields that the call sets to null", async () => {
    const { decision } = await decide({
      outcome: "approved",
      answer: { status: "Kyc Expired", aml_screenings: null, poa_verifications: [{ status: "In Review" }] },
    });
    expect(decision).toMatchObject({ status: "Kyc Expired", poa_verifications: [{ status: "In Review" }] });
    expect(decision).not.toHaveProperty("aml_screenings");
    expect(decision.face_matches).toMatchObject([{ status: "Approved" }]);
  });

  test("Didit GET decision returns the liveness method PASSIVE for the workflow that evaluates one picture", async () => {
    const { decision } = await decide({ outcome: "approved" }, { workflow_id: workflowIdStill });
    expect(decision.liveness_checks).toMatchObject([{ method: "PASSIVE" }]);
  });

  test("Didit GET decision returns canaries in place of expected_details, and a warning if the document has another name", async () => {
    const expected_details = { first_name: "Meriem", last_name: "Haddad" };
    const { decision } = await decide({ first_name: "Yacine" }, { expected_details });
    expect(decision.expected_details).toEqual({ first_name: "canary-first_name", last_name: "canary-last_name" });
    expect(decision.status).toBe("In Review");
    expect(decision.id_verifications[0].warnings).toMatchObject([{ risk: expect.stringMatching(/_MISMATCH_WITH_PROVIDED$/) }]);
    expect(JSON.stringify(decision)).not.toMatch(/Meriem|Haddad|Yacine/);
  });

  test("Didit GET decision returns the status Expired when the lifetime of the session is over", async () => {
    await using clockSandbox = await aSandbox();
    const { id } = await aSession(clockSandbox.url);
    await control(clockSandbox.url, "POST", "clock", { advance_seconds: 7 * 86_400 });
    expect(await decisionAt(clockSandbox.url, id)).toMatchObject({ status: "Expired" });
  });

  test("Didit responses contain a canary in each personal field", async () => {
    const { decision } = await decide({ outcome: "needs_review", aml_hit_count: 1 }, { expected_details: { first_name: "x" } });
    const [document] = decision.id_verifications;
    for (const name of ["first_name", "last_name", "date_of_birth", "document_number", "personal_number", "mrz", "address"]) {
      expect(document[name]).toMatch(/^canary-/);
    }
    expect(document.front_image).toMatch(/^canary-/);
    expect(decision.contact_details).toEqual({ email: "canary-email", phone: "canary-phone" });
    expect(decision.aml_screenings[0].hits[0].caption).toMatch(/^canary-/);
    expect(decision.ip_analyses[0].ip_address).toMatch(/^canary-/);
    const error = await call("GET", "/v3/session/unknown/decision/");
    expect(JSON.stringify(error.body)).toContain("canary-");
  });
});

describe("Didit DELETE session", () => {
  test.each(["Not Started", "In Progress", "being checked", "Approved"])(
    "Didit DELETE of a session in the state `%s` returns status 204 without a callback, and later calls on the session return status 404",
    async (state) => {
      const session = await aSession(sandbox.url);
      const { id, token } = session;
      if (state === "In Progress") await act(token, "open");
      if (state === "being checked") await act(token, "submit", { outcome: "approved", hold_seconds: 3_600 });
      if (state === "Approved") await act(token, "submit", { outcome: "approved" });
      await untilDelivered(session);
      const before = receiver.received.length;
      expect(await call("DELETE", `/v3/session/${id}/delete/`)).toMatchObject({ status: 204, body: undefined });
      expect((await call("DELETE", `/v3/session/${id}/delete/`)).status).toBe(404);
      expect((await call("GET", `/v3/session/${id}/decision/`)).status).toBe(404);
      expect((await updateStatus(id, { new_status: "Approved" })).status).toBe(404);
      expect((await act(token, "submit", { outcome: "approved" })).status).toBe(409);
      await control(sandbox.url, "POST", "clock", { advance_seconds: 3_600 });
      await untilDelivered(session);
      expect(receiver.received).toHaveLength(before);
    },
  );

  test("the sandbox control call `delete` deletes a Didit session, and POST /v3/session/ with the same vendor_data then returns a new session", async () => {
    const { id, token, reference } = await aSession(sandbox.url);
    expect(await act(token, "delete")).toMatchObject({ status: 200 });
    expect((await call("GET", `/v3/session/${id}/decision/`)).status).toBe(404);
    expect((await act(token, "delete")).status).toBe(409);
    expect((await create({ vendor_data: reference })).body.session_id).not.toBe(id);
  });

  test("Didit POST /v3/users/delete/ deletes all sessions with the given vendor_data", async () => {
    const session = await decide({ outcome: "approved" });
    const second = await create({ vendor_data: session.reference });
    const path = `/v3/sessions/?vendor_data=${session.reference}&session_kind=user`;
    expect((await call("GET", path)).body).toMatchObject({
      count: 2,
      results: [
        { session_id: second.body.session_id, status: "Not Started" },
        { session_id: session.id, status: "Approved" },
      ],
    });
    expect((await call("POST", "/v3/users/delete/", { vendor_data_list: [session.reference] })).status).toBe(200);
    expect((await call("GET", path)).body).toMatchObject({ count: 0, results: [] });
    expect((await call("POST", "/v3/users/delete/", { vendor_data_list: "x" })).body).toHaveProperty("vendor_data_list");
  });
});

describe("Didit PATCH update-status", () => {
  test.each([
    ["Approved", "Declined"],
    ["Declined", "Approved"],
  ])(
    "Didit PATCH update-status changes a session to %s, and returns status 400 with a list if the session already has that status",
    async (status, other) => {
      const session = await decide({ outcome: "needs_review", reason_codes: ["AML_MATCH"] });
      const body = { new_status: status, comment: "Amana officer" };
      expect(await updateStatus(session.id, body)).toMatchObject({ status: 200, body: { session_id: session.id } });
      expect(await decisionAt(sandbox.url, session.id)).toMatchObject({ status });
      expect(await updateStatus(session.id, body)).toMatchObject({ status: 400, body: [expect.any(String)] });
      expect((await updateStatus(session.id, { new_status: other })).status).toBe(200);
      await untilDelivered(session);
      expect(receiver.received.map(({ body: event }) => event.status)).toEqual(["In Progress", "In Review", status, other]);
    },
  );

  test("Didit PATCH update-status replaces the status that the control call `submit` has overridden", async () => {
    const { id } = await decide({ outcome: "needs_review", answer: { status: "In Review", risk: "odd" } });
    await updateStatus(id, { new_status: "Approved" });
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "Approved", risk: "odd" });
  });

  test.each([
    ["new_status", { new_status: "In Review" }],
    ["new_status", {}],
    ["comment", { new_status: "Approved", comment: 1 }],
    ["reviewer", { new_status: "Approved", reviewer: "x" }],
  ])("Didit PATCH update-status returns status 400 with an error at the field %s for %j", async (field, body) => {
    const { id } = await decide({ outcome: "needs_review" });
    expect(await updateStatus(id, body)).toMatchObject({ status: 400, body: { [field]: [expect.any(String)] } });
  });

  test("Didit PATCH update-status returns status 400 with the field `detail` for a session without a decision", async () => {
    const { id } = await aSession(sandbox.url);
    const response = await updateStatus(id, { new_status: "Approved" });
    expect(response).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
  });

  test.each([
    ["console", "STATUS_UPDATED", "CONSOLE_USER", expect.any(String), "In Review"],
    ["api", "STATUS_UPDATED", "API_KEY", null, "In Review"],
    ["system", "STATUS_UPDATED", "SYSTEM", null, "In Review"],
    ["note", "NOTE_ADDED", "CONSOLE_USER", null, null],
  ])(
    "Didit GET reviews returns the type, actor and previous status of an activity that the control call `review` stored as %s",
    async (by, activity_type, actor_type, actor_email, previous_status) => {
      const { id, token } = await decide({ outcome: "needs_review" });
      await act(token, "review", { outcome: "approved", by });
      const { body } = await call("GET", `/v3/sessions/${id}/reviews/?limit=20`);
      expect(body.results).toMatchObject([
        { activity_type, actor_type, actor_email, previous_status, new_status: "Approved", created_at: expect.any(String) },
      ]);
    },
  );

  test("Didit GET reviews returns the newest changes first, and no more than `limit` changes", async () => {
    const { id } = await decide({ outcome: "needs_review" });
    await updateStatus(id, { new_status: "Declined" });
    await updateStatus(id, { new_status: "Approved" });
    const { body } = await call("GET", `/v3/sessions/${id}/reviews/?limit=1`);
    expect(body).toMatchObject({ count: 2, results: [{ new_status: "Approved", previous_status: "Declined" }] });
  });
});

describe("control calls on a Didit session", () => {
  test("the sandbox control call `submit` and the tester's page reject the outcome `failed` for a Didit session, because Didit has no such outcome", async () => {
    const { id, token } = await aSession(sandbox.url);
    const response = await act(token, "submit", { outcome: "failed" });
    expect(response).toMatchObject({ status: 422, body: { message: expect.stringContaining("resubmit") } });
    const page = await fetch(`${sandbox.url}/sandbox/kyc/${token}/tester`, {
      method: "POST",
      body: new URLSearchParams({ outcome: "failed" }),
    });
    expect(page.status).toBe(422);
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "Not Started" });
  });

  test("the sandbox control call `resubmit` sets a decided Didit session to Resubmitted, and the session's link accepts another submission", async () => {
    const session = await decide({ outcome: "approved" });
    expect((await act(session.token, "resubmit")).status).toBe(200);
    expect(await decisionAt(sandbox.url, session.id)).toMatchObject({ status: "Resubmitted" });
    expect((await act(session.token, "resubmit")).status).toBe(409);
    await act(session.token, "submit", { outcome: "rejected" });
    expect(await decisionAt(sandbox.url, session.id)).toMatchObject({ status: "Declined" });
    await untilDelivered(session);
    expect(receiver.received.map(({ body }) => body.status)).toEqual(["In Progress", "Approved", "Resubmitted", "Declined"]);
  });

  test("the sandbox control call `reverse` replaces the verdict of a Didit session and causes a callback", async () => {
    const session = await decide({ outcome: "approved" });
    expect((await act(session.token, "reverse", { outcome: "approved" })).status).toBe(409);
    expect((await act(session.token, "reverse", { outcome: "rejected" })).status).toBe(200);
    expect(await decisionAt(sandbox.url, session.id)).toMatchObject({ status: "Declined" });
    await untilDelivered(session);
    expect(receiver.received.at(-1)?.body).toMatchObject({ status: "Declined", decision: { status: "Declined" } });
  });

  test("the sandbox control calls `resubmit`, `reverse` and `delete` reject a new application that uses Amana's own protocol", async () => {
    const { token } = await aVerification(sandbox.url);
    expect((await act(token, "resubmit")).status).toBe(422);
    expect((await act(token, "delete")).status).toBe(422);
    expect((await act(token, "reverse", { outcome: "rejected" })).status).toBe(409);
    expect((await act(token, "reverse", { outcome: "maybe" })).status).toBe(422);
  });

  test("GET /sandbox/kyc/{token} returns a Didit session's protocol, received calls without personal data, and callbacks with their attempts", async () => {
    const contact_details = { email: "meriem@applicant.test", phone: "+213550000000" };
    const session = await aSession(sandbox.url, { contact_details, expected_details: { first_name: "Meriem" } });
    await act(session.token, "open");
    await untilDelivered(session);
    const { body } = await control(sandbox.url, "GET", `kyc/${session.token}`);
    expect(body).toMatchObject({
      dialect: "didit",
      reference: session.reference,
      calls: [{ operation: "kyc_create", parameters: { contact_details: "received, not kept" } }],
      callbacks: [{ webhook_type: "status.updated", state: "delivered", attempts: [{ result: "204" }] }],
    });
    expect(JSON.stringify(body)).not.toMatch(/meriem|\+213/i);
  });

  test("the event list of Amana's own provider protocol contains no event of a Didit session", async () => {
    const { cursor } = (await callProvider(sandbox.url, "GET", "events?limit=500")).body;
    await decide({ outcome: "approved" });
    expect((await callProvider(sandbox.url, "GET", `events?after=${cursor}`)).body.events).toEqual([]);
  });
});

describe("Didit callbacks", () => {
  const hmac = (text: string, secret = "provider-callback-secret") => createHmac("sha256", secret).update(text).digest("hex");
  const isSigned = ({ headers, raw }: ReceivedCallback) => headers["x-signature"] === hmac(raw);

  test("the sandbox sends a signed Didit callback with the complete decision to KYC_CALLBACK_URL/didit after each status change", async () => {
    const session = await decide({ outcome: "approved" });
    await untilDelivered(session);
    expect(receiver.received.map(({ body }) => body.status)).toEqual(["In Progress", "Approved"]);
    for (const received of receiver.received) {
      const { body, headers, path } = received;
      expect(path).toBe("/callbacks/kyc/didit");
      expect(isSigned(received)).toBe(true);
      expect(headers["x-signature-simple"]).toBe(hmac(`${body.timestamp}:${session.id}:${body.status}:status.updated`));
      expect(headers["x-signature-v2"]).toMatch(/^[0-9a-f]{64}$/);
      expect(headers["x-signature-v2"]).not.toBe(headers["x-signature"]);
      expect(headers["x-timestamp"]).toBe(String(body.timestamp));
      expect(Math.abs(body.timestamp - Date.now() / 1000)).toBeLessThan(60);
      expect(received.raw).not.toContain(session.token);
    }
    expect(receiver.received[1]?.body).toEqual({
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      webhook_type: "status.updated",
      timestamp: expect.any(Number),
      created_at: expect.any(Number),
      environment: "sandbox",
      session_id: session.id,
      vendor_data: session.reference,
      workflow_id: workflowId,
      status: "Approved",
      decision: session.decision,
    });
  });

  test("the sandbox sends a Didit callback when a session expires", async () => {
    const session = await aSession(sandbox.url);
    await act(session.token, "expire");
    await untilDelivered(session);
    expect(receiver.received.map(({ body }) => body.status)).toEqual(["Expired"]);
  });

  test.each([
    [[500, 503], 3, "delivered"],
    [[404, 404, 404], 3, "given_up"],
    [[302], 1, "given_up"],
    [[400], 1, "given_up"],
  ])(
    "the sandbox, after the responses %j to a Didit callback, has made %i attempts and sets the callback to %s",
    async (statuses, attempts, state) => {
      receiver.respondNext(...statuses);
      const session = await aSession(sandbox.url);
      await act(session.token, "open");
      await untilDelivered(session);
      expect(receiver.received).toHaveLength(attempts);
      expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1);
      expect(await callbacksOf(session)).toMatchObject([{ state }]);
    },
  );

  test.each(["timeout_before", "timeout_after", "reset_after", "http_500", "error:404"])(
    "the sandbox sends a Didit callback again after the fault %s",
    async (mode) => {
      const session = await aSession(sandbox.url);
      await setFault("kyc_callback", mode);
      await act(session.token, "open");
      await untilDelivered(session);
      expect(receiver.received).toHaveLength(mode.endsWith("_after") ? 2 : 1);
      expect(await callbacksOf(session)).toMatchObject([{ state: "delivered", attempts: [{}, { result: "204" }] }]);
    },
  );

  test("the sandbox does not send a Didit callback again after the fault `error:418`", async () => {
    const session = await aSession(sandbox.url);
    await setFault("kyc_callback", "error:418");
    await act(session.token, "open");
    await untilDelivered(session);
    expect(receiver.received).toEqual([]);
  });

  test("the sandbox applies each of the faults `bad_signature`, `duplicate`, `drop`, `reorder` and `leak` to Didit callbacks", async () => {
    const withFault = async (mode: string) => {
      receiver.received.length = 0;
      const session = await aSession(sandbox.url);
      await setFault("kyc_callback", mode);
      await act(session.token, "submit", { outcome: "approved" });
      await untilDelivered(session);
      return receiver.received;
    };
    const statuses = (received: readonly ReceivedCallback[]) => received.map(({ body }) => body.status);
    expect((await withFault("bad_signature")).map(isSigned)).toEqual([false, true]);
    expect(statuses(await withFault("duplicate"))).toEqual(["In Progress", "In Progress", "Approved"]);
    expect(statuses(await withFault("drop"))).toEqual(["Approved"]);
    expect(statuses(await withFault("reorder"))).toEqual(["Approved", "In Progress"]);
    const [leaked] = await withFault("leak:word");
    expect(leaked && isSigned(leaked)).toBe(true);
    expect(leaked?.body.decision).toMatchObject({ first_name: "word-first" });
  });

  test("the sandbox sends no Didit callback if KYC_CALLBACK_URL is not set", async () => {
    await using silentSandbox = await aSandbox();
    const { token } = await aSession(silentSandbox.url);
    await kycControl(silentSandbox.url, token, "open");
    expect((await control(silentSandbox.url, "GET", `kyc/${token}`)).body.callbacks).toEqual([]);
  });
});

describe("Didit configuration", () => {
  test("Didit GET /v3/workflows/ lists a published version of each workflow that meets the requirements of the kyc service", async () => {
    const { results } = (await call("GET", "/v3/workflows/?limit=200")).body;
    const methodOf = async (id: string) => {
      const published = results.filter(
        (row: { workflow_id: string; status: string }) => row.workflow_id === id && row.status === "published",
      );
      const { body } = await call("GET", `/v3/workflows/${published[0].uuid}/`);
      expect(body).toMatchObject({
        workflow_id: id,
        version: 2,
        features: ["OCR", "LIVENESS", "FACE_MATCH", "AML"],
        max_retry_attempts: 0,
        documents_allowed: { DZA: { P: expect.anything(), ID: expect.anything() } },
        session_expiration_time: 604_800,
      });
      return body.face_liveness_method;
    };
    expect(await methodOf(workflowId)).toBe("active_3d");
    expect(await methodOf(workflowIdStill)).toBe("passive");
    expect((await call("GET", "/v3/workflows/?limit=1")).body.results).toHaveLength(1);
    expect((await call("GET", "/v3/workflows/unknown/")).status).toBe(404);
  });

  test("PUT /sandbox/kyc-setup overrides fields of Didit's workflow and webhook, and removes fields that the request sets to null", async () => {
    await setUp({ didit_workflow: { max_retry_attempts: 3, features: null, status: "draft" }, webhook: { enabled: false } });
    const { results } = (await call("GET", "/v3/workflows/")).body;
    expect(results.map(({ status }: { status: string }) => status)).toEqual(Array(6).fill("draft"));
    const { body } = await call("GET", `/v3/workflows/${results[1].uuid}/`);
    expect(body.max_retry_attempts).toBe(3);
    expect(body).not.toHaveProperty("features");
    expect((await call("GET", "/v3/webhook/destinations/any/")).body.enabled).toBe(false);
    expect((await setUp({ sumsub_levels: {} })).status).toBe(422);
    expect((await setUp({ didit_workflow: [] })).status).toBe(422);
  });

  test("the simulated Didit API returns the webhook destination, the balance and the current time", async () => {
    expect((await call("GET", "/v3/webhook/destinations/destination/")).body).toMatchObject({
      uuid: "destination",
      url: `${receiver.url}/didit`,
      enabled: true,
      webhook_version: "v3",
      subscribed_events: ["status.updated", "data.updated"],
      secret_shared_key: "provider-callback-secret",
    });
    expect(Number((await call("GET", "/v3/billing/balance/")).body.balance)).toBeGreaterThan(0);
    const health = await callDidit(sandbox.url, "GET", "/system/healthcheck", undefined, "none");
    expect(Math.abs(Date.parse(health.body.timestamp) - Date.now())).toBeLessThan(30_000);
  });
});

describe("a fault of Didit's API", () => {
  const operations = {
    kyc_create: (_id: string) => create(),
    kyc_get: (id: string) => call("GET", `/v3/session/${id}/decision/`),
    kyc_cancel: (id: string) => call("DELETE", `/v3/session/${id}/delete/`),
    kyc_review: (id: string) => updateStatus(id, { new_status: "Approved" }),
  };
  const names = Object.keys(operations) as (keyof typeof operations)[];

  test.each(names)(
    "the Didit operation %s with the fault `error:503` returns an error in Didit's format and has no effect",
    async (name) => {
      const { id } = await decide({ outcome: "needs_review" });
      await setFault(name, "error:503");
      expect(await operations[name](id)).toMatchObject({ status: 503, body: { detail: expect.any(String) } });
      expect(await decisionAt(sandbox.url, id)).toMatchObject({ status: "In Review" });
    },
  );

  test.each(names)("the Didit operation %s with the fault `timeout_after` takes effect and sends no response", async (name) => {
    const { id } = await decide({ outcome: "needs_review" });
    await setFault(name, "timeout_after");
    const timeout = new Promise((resolve) => setTimeout(() => resolve("no response"), 150));
    expect(await Promise.race([operations[name](id).catch(() => "closed"), timeout])).toBe("no response");
    const { status, body } = await call("GET", `/v3/session/${id}/decision/`);
    if (name === "kyc_cancel") expect(status).toBe(404);
    if (name === "kyc_review") expect(body.status).toBe("Approved");
  });

  test("the simulated Didit API adds personal data to a response for the fault `leak:<word>`, and returns status 400 with the word for `leak_error:<word>`", async () => {
    const { id } = await aSession(sandbox.url);
    await setFault("kyc_get", "leak:word");
    expect(await decisionAt(sandbox.url, id)).toMatchObject({ session_id: id, document_number: "word-number" });
    await setFault("kyc_create", "leak_error:word");
    const error = await create();
    expect(error).toMatchObject({ status: 400, body: { vendor_data: [expect.stringContaining("word")] } });
  });
});
