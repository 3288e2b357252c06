import { createHmac } from "node:crypto";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { allBusinesses, databaseTime, transaction } from "@amana/database";
import { platformCaller } from "@amana/rpc";
import { allTenants, forTenant } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { KycApplication } from "../src/kyc-application/kyc-application.ts";
import { lockApplication, queryProvider, recordState, syncApplication } from "../src/kyc-application/sync-application.ts";
import { type Harness, providerSettings, startHarness } from "./harness.ts";
import { callbackSecret } from "./sandbox.ts";

type Reply = readonly [status: number, body: string];
let harness: Harness;
const timeoutMs = 10_000;

/**
 * Returns the reply that the proxy sends to kyc, or undefined to make the proxy forward the
 * request to the vendor.
 */
let replyOf: (method: string, path: string) => Reply | undefined | Promise<undefined> = () => undefined;
/** A proxy between kyc and the sandbox, which simulates the vendor. */
const proxy = createServer(async (incoming, response) => {
  const reply = await replyOf(incoming.method ?? "", incoming.url?.split("?")[0] ?? "");
  if (reply) {
    incoming.resume();
    response.writeHead(reply[0], { "content-type": reply[1].startsWith("<") ? "text/html" : "application/json" }).end(reply[1]);
    return;
  }
  const outgoing = forward(
    `${harness.sandbox.url}${incoming.url}`,
    { method: incoming.method, headers: incoming.headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
});
let proxyUrl = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});

const htmlPage = (status: number): Reply => [status, "<html>proxy</html>"];
const readStored = async (id: string) =>
  (await harness.sql<Record<string, unknown>>("select * from kyc_application where id = ?", [id]))[0];
const sync = (id: string) => forTenant(allTenants, () => syncApplication(harness.context, id, timeoutMs));
const endLink = (id: string) =>
  harness.sql("update kyc_application set link_expires_at = now() - interval '2 min' where id = ?", [id]);
const review = (id: string, outcome: KycVerdict, ms = 20_000) =>
  harness.kyc.reviewKycApplication({ id, outcome, note: "checked" }, { caller: adminCaller, timeoutMs: ms });
/** Moves the stored decision's deadline into the past, so that another decision can replace it. */
const endPendingDecision = (id: string) =>
  harness.sql("update kyc_application set review_request = jsonb_set(review_request::jsonb, '{untilMs}', '0') where id = ?", [
    id,
  ]);

/** Reads an application at the vendor. Returns a function that records the response later. */
async function readNow(id: string) {
  const { context } = harness;
  const em = context.orm.em.fork();
  const application = await forTenant(allTenants, () => em.findOneOrFail(KycApplication, { id }));
  const start = { at: await databaseTime(em), nextCheckAt: application.nextCheckAt };
  const outcome = await queryProvider(context, application, { closing: undefined }, timeoutMs);
  return () =>
    forTenant(allTenants, () =>
      transaction(context.orm, async (em) =>
        recordState(em, context, await lockApplication(em, allBusinesses, id), outcome, start),
      ),
    );
}

/** Sends a callback with a valid signature of the vendor to kyc. */
async function sendCallback(vendor: "didit" | "sumsub", providerId: string, reference: string) {
  const now = Date.now();
  const content =
    vendor === "didit"
      ? {
          event_id: crypto.randomUUID(),
          webhook_type: "status.updated",
          timestamp: Math.floor(now / 1_000),
          environment: "sandbox",
          session_id: providerId,
          vendor_data: reference,
        }
      : {
          correlationId: crypto.randomUUID(),
          type: "applicantReviewed",
          createdAtMs: String(now),
          sandboxMode: true,
          applicantId: providerId,
          externalUserId: reference,
        };
  const body = Buffer.from(JSON.stringify(content));
  const digest = createHmac("sha256", callbackSecret).update(body).digest("hex");
  const headers: Record<string, string> =
    vendor === "didit" ? { "x-signature": digest } : { "x-payload-digest": digest, "x-payload-digest-alg": "HMAC_SHA256_HEX" };
  await harness.kyc.receiveProviderCallback({ body, provider: vendor, headers }, { caller: platformCaller });
}

async function anApplicationInReview(submission: object = { reason_codes: ["DUPLICATE"] }) {
  const created = await harness.create();
  await harness.sandbox.submit(created.linkUrl, { outcome: "needs_review", ...submission });
  await sync(created.id);
  expect(await readStored(created.id)).toMatchObject({ verdict: "NEEDS_REVIEW" });
  return created;
}

describe.each(["didit", "sumsub"] as const)("kyc with %s", (vendor) => {
  beforeAll(async () => {
    const name = `KYC_${vendor.toUpperCase()}_URL`;
    harness = await startHarness({ provider: vendor, settings: { [name]: `${proxyUrl}/${vendor}` } });
    expect(providerSettings[vendor]("")[name]).toBe(`/${vendor}`);
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(async () => {
    replyOf = () => undefined;
    vi.restoreAllMocks();
    // Removes all planned checks, so that no check of this test runs during the next test.
    await harness.sql("update kyc_application set next_check_at = null");
    await harness.sandbox.clearFaults();
  });

  test(`kyc with ${vendor} applies a second decision if the response to the first decision was lost and the application was then deleted at the vendor`, async () => {
    const { id } = await anApplicationInReview();
    replyOf = (method) => (method === "GET" ? undefined : [503, "{}"]);
    expect(await refusal(review(id, KycVerdict.APPROVED))).toMatchObject({ kind: "unavailable" });
    await endPendingDecision(id);
    replyOf = () => [404, '{"detail": "Not found."}'];
    expect(await review(id, KycVerdict.REJECTED)).toMatchObject({ verdict: KycVerdict.REJECTED });
  });

  test(`kyc with ${vendor} does not set the status CANCELED if a proxy responds to the cancellation with an HTML page and status 404`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    replyOf = () => htmlPage(404);
    const cancelation = harness.kyc.cancelKycApplication({ id }, { caller, timeoutMs: 5_000 });
    await cancelation.catch(() => undefined);
    replyOf = () => undefined;
    const canSubmit = await harness.sandbox.submit(linkUrl, { outcome: "approved" }).then(
      () => true,
      () => false,
    );
    expect({ canSubmit, status: (await readStored(id))?.["status"] }).toEqual({ canSubmit: true, status: "CREATED" });
  });

  test(`kyc with ${vendor} applies the verdict on a submission before the link's expiry, even if a proxy responded to an earlier read with an HTML page and status 404`, async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await endLink(id);
    replyOf = () => htmlPage(404);
    await sync(id);
    replyOf = () => undefined;
    // On a busy machine, a read can exceed its timeout. kyc then reads again.
    await vi.waitFor(
      async () => {
        await harness.sql("update kyc_application set next_check_at = now() where id = ? and next_check_at is not null", [id]);
        await harness.checkDue();
        expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
      },
      { timeout: 60_000, interval: 300 },
    );
  });

  test(`kyc with ${vendor} completes creations, cancellations and reads as soon as the vendor accepts previously rejected credentials again`, async () => {
    const caller = aBusinessCaller();
    const submitted = await Promise.all([1, 2, 3, 4].map(() => harness.create(caller)));
    const canceled = await Promise.all([1, 2, 3, 4].map(() => harness.create(caller)));
    for (const { linkUrl } of submitted) await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    const create = (key: number) =>
      harness.kyc.createKycApplication({ locale: "fr" }, { ...withIdempotencyKey(caller, `new-${key}`), timeoutMs: 20_000 });
    const cancel = ({ id }: { readonly id: string }) =>
      harness.kyc.cancelKycApplication({ id }, { ...withIdempotencyKey(caller, `cancel-${id}`), timeoutMs: 20_000 });
    const readVerdicts = async () => await Promise.all(submitted.map(async ({ id }) => (await readStored(id))?.["verdict"]));
    const error = vi.spyOn(harness.context.logger, "error");
    // For a revoked key, older pages of Didit's documentation describe status 403, and Sumsub's
    // documentation describes status 401.
    replyOf = () => [vendor === "didit" ? 403 : 401, '{"detail": "rejected", "errorCode": 4003}'];
    const rejected = await Promise.allSettled([
      ...[1, 2, 3, 4].map(create),
      ...canceled.map(cancel),
      ...submitted.map(({ id }) => sync(id)),
    ]);
    expect(rejected.slice(0, 8).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => "rejected"));
    expect(await readVerdicts()).toEqual([null, null, null, null]);
    expect(error.mock.calls.map(([, text]) => text)).toContain("credentials rejected by the verification provider");
    replyOf = () => undefined;
    const created = await Promise.all([1, 2, 3, 4].map(create));
    expect(new Set(created.map(({ id }) => id)).size).toBe(4);
    for (const { status } of await Promise.all(canceled.map(cancel))) expect(status).toBe(KycStatus.CANCELED);
    await harness.sql("update kyc_application set next_check_at = now() where business_id = ?", [caller.businessId]);
    await harness.checkDue();
    expect(await readVerdicts()).toEqual(["APPROVED", "APPROVED", "APPROVED", "APPROVED"]);
  });

  test(`kyc with ${vendor} keeps a review open if a proxy responds to an operator's decision with an HTML page and status 404`, async () => {
    const { id } = await anApplicationInReview();
    replyOf = () => htmlPage(404);
    await review(id, KycVerdict.APPROVED).catch(() => undefined);
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
  });

  test(`kyc with ${vendor} applies a new verdict even if the database's clock was set back by an hour`, async () => {
    const { id, linkUrl } = await harness.create();
    await sync(id);
    // Simulates that the last read began when the database's clock was an hour ahead.
    await harness.sql("update kyc_application set provider_asked_at = now() + interval '1 hour' where id = ?", [id]);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
  });

  test(`kyc with ${vendor} has no check due after three reads if the database's clock was set back by an hour`, async () => {
    const { id, linkUrl } = await harness.create();
    await sync(id);
    await harness.sql("update kyc_application set provider_asked_at = now() + interval '1 hour' where id = ?", [id]);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    for (let check = 0; check < 3; check++) await sync(id);
    const due = await harness.sql("select id from kyc_application where id = ? and next_check_at <= now()", [id]);
    expect(due).toEqual([]);
  });

  test(`kyc with ${vendor} keeps the status FAILED and plans no check if a callback's read ends after kyc closed the link`, async () => {
    const { id, linkUrl } = await harness.create(aBusinessCaller(), { maxAttempts: 1 });
    const { provider_id } = await harness.sandbox.application(id);
    if (vendor === "didit") {
      await harness.sandbox.submit(linkUrl, { outcome: "approved" });
      await harness.sandbox.resubmit(linkUrl);
    } else await harness.sandbox.submit(linkUrl, { outcome: "failed" });
    const provider = harness.context.providers.current;
    const get = vi.spyOn(provider, "get");
    const read = async (...request: Parameters<typeof get>) => {
      get.mockRestore();
      // Before the callback's read, the job reads the failed attempt and closes the link.
      await sync(id);
      await harness.checkDue();
      expect(await readStored(id)).toMatchObject({ status: "FAILED", closing: null, next_check_at: null });
      // According to Sumsub's documentation, the profile of a deactivated applicant has the field
      // `deleted`.
      const retry = { reviewStatus: "completed", reviewResult: { reviewAnswer: "RED", reviewRejectType: "RETRY" } };
      const deactivated = { id: provider_id, externalUserId: id, deleted: true, review: retry };
      if (vendor === "sumsub")
        replyOf = (_method, path) => (path.endsWith("/one") ? [200, JSON.stringify(deactivated)] : undefined);
      return await provider.get(...request);
    };
    let reading: ReturnType<typeof read> | undefined;
    get.mockImplementation((...request) => (reading = read(...request)));
    const error = vi.spyOn(harness.context.logger, "error");
    // If an assertion in `read` fails, the response to the callback does not contain its message.
    await sendCallback(vendor, provider_id, id).finally(() => reading);
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "FAILED", next_check_at: null });
    expect(error.mock.calls).toEqual([]);
  });

  test(`kyc with ${vendor} keeps a review open if an API key approves at the vendor after an operator's decision had no effect there`, async () => {
    const { id, linkUrl } = await anApplicationInReview();
    // The vendor confirms the decision, but the review continues, for example because a second
    // officer must also decide.
    replyOf = (method) => (method === "GET" ? undefined : [200, "{}"]);
    expect(await refusal(review(id, KycVerdict.APPROVED))).toMatchObject({ kind: "upstream_error" });
    replyOf = () => undefined;
    await harness.sandbox.review(linkUrl, "approved", "api");
    await sync(id);
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
  });

  test(`kyc with ${vendor} keeps the status EXPIRED and plans no check if it records an older read after it has closed the link`, async () => {
    const { id } = await harness.create();
    const record = await readNow(id);
    await endLink(id);
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "EXPIRED", next_check_at: null });
    const error = vi.spyOn(harness.context.logger, "error");
    await record();
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "EXPIRED", next_check_at: null });
    expect(error.mock.calls).toEqual([]);
  });

  test(`kyc with ${vendor} keeps the AML hits and the reason codes of an application that an operator rejects in review`, async () => {
    const { id } = await anApplicationInReview({ aml_hit_count: 2 });
    const before = await readStored(id);
    expect(before).toMatchObject({ aml_hit_count: 2, aml_decision: "POSSIBLE_MATCH", reason_codes: ["AML_MATCH"] });
    expect(await review(id, KycVerdict.REJECTED)).toMatchObject({ verdict: KycVerdict.REJECTED });
    const { aml_hit_count, aml_decision, reason_codes } = (await readStored(id)) ?? {};
    expect({ aml_hit_count, aml_decision, reason_codes }).toEqual({
      aml_hit_count: 2,
      aml_decision: "POSSIBLE_MATCH",
      reason_codes: ["AML_MATCH"],
    });
  });

  test(`kyc with ${vendor} responds to a delayed creation with the stored application and its link if a creation with the same Idempotency-Key completed earlier`, async () => {
    const caller = aBusinessCaller();
    const options = () => withIdempotencyKey(caller, `overtaken-${vendor}`);
    const provider = harness.context.providers.current;
    const create = vi.spyOn(provider, "create");
    let first: { id: string; linkUrl?: string } | undefined;
    create.mockImplementation(async (requested, ms) => {
      create.mockRestore();
      // Delays this request until its hold of the key has ended. In the meantime, a repeated
      // request completes, and the applicant submits on the link of the repeated request.
      await harness.sql("update idempotency_key set held_until = now() - interval '1 s'");
      first = await harness.kyc.createKycApplication({ locale: "fr" }, options());
      await harness.sandbox.submit(first.linkUrl, { outcome: "approved" });
      return await provider.create(requested, ms);
    });
    const second = await harness.kyc.createKycApplication({ locale: "fr" }, options());
    expect(second.id).toBe(first?.id);
    expect(second.linkUrl).toBe(first?.linkUrl);
  });

  test(`kyc with ${vendor} does not log the reference in a callback about an unknown application`, async () => {
    const logInfo = vi.spyOn(harness.context.logger, "info");
    const providerId = vendor === "didit" ? crypto.randomUUID() : "5b594ade0a975a36c9349e66";
    await sendCallback(vendor, providerId, "canary.benali@example.dz");
    expect(logInfo.mock.calls.length).toBeGreaterThan(0);
    expect(JSON.stringify(logInfo.mock.calls)).not.toContain("canary");
  });
});

describe("kyc with didit", () => {
  beforeAll(async () => {
    harness = await startHarness({ provider: "didit", settings: { KYC_DIDIT_URL: `${proxyUrl}/didit` } });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => {
    replyOf = () => undefined;
    vi.restoreAllMocks();
  });

  test("kyc with didit keeps a review open if an API key approves after Didit rejected an operator's decision with status 400 and a read failed", async () => {
    const { id, linkUrl } = await anApplicationInReview();
    replyOf = (method) => (method === "GET" ? [503, ""] : [400, '["not allowed"]']);
    await refusal(review(id, KycVerdict.APPROVED));
    replyOf = () => undefined;
    await harness.sandbox.review(linkUrl, "approved", "api");
    await sync(id);
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
  });

  test("kyc with didit keeps a review open if Didit rejects an operator's decision with status 400 and then approves a second submission automatically", async () => {
    const { id, linkUrl } = await anApplicationInReview();
    await harness.sandbox.resubmit(linkUrl);
    // Didit accepts no decision on a session with the status Resubmitted.
    replyOf = (method) => (method === "GET" ? undefined : [400, '{"new_status": ["not allowed"]}']);
    expect(await refusal(review(id, KycVerdict.APPROVED))).toMatchObject({ kind: "upstream_error" });
    replyOf = () => undefined;
    await harness.sandbox.submit(linkUrl, { outcome: "approved", document_type: "passport", nationality: "FRA" });
    await sync(id);
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
  });
});

describe("kyc with sumsub", () => {
  beforeAll(async () => {
    harness = await startHarness({ provider: "sumsub", settings: { KYC_SUMSUB_URL: `${proxyUrl}/sumsub` } });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => {
    replyOf = () => undefined;
  });

  test("kyc with sumsub applies an approval after the link's expiry, even if a proxy responded to an earlier read with an HTML page and status 404", async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 5 });
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "PROCESSING" });
    await endLink(id);
    replyOf = () => htmlPage(404);
    await sync(id);
    replyOf = () => undefined;
    await vi.waitFor(
      async () => {
        await sync(id);
        expect((await harness.sandbox.application(id)).status).toBe("COMPLETED");
      },
      { timeout: 60_000, interval: 300 },
    );
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
  });

  test("kyc with sumsub applies a rejection that occurs after cancelKycApplication reads the applicant and before it deactivates the applicant", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    replyOf = async (method) => {
      if (method !== "PATCH") return undefined;
      replyOf = () => undefined;
      await harness.sandbox.submit(linkUrl, { outcome: "rejected", reason_codes: ["DOCUMENT_TAMPERED"] });
      return undefined;
    };
    await harness.kyc.cancelKycApplication({ id }, { caller, timeoutMs: 10_000 }).catch(() => undefined);
    expect((await harness.sandbox.application(id)).status).toBe("COMPLETED");
    expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "REJECTED" });
  });
});
