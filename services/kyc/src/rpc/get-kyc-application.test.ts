import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { goodClient, type Harness, startHarness } from "../../test/harness.ts";
import type { Submission } from "../../test/sandbox.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const reads = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_get").length;

describe("getKycApplication", () => {
  test("returns the same error for another business's application and an invalid id as for an unknown id", async () => {
    const { id } = await harness.create();
    const read = (requestedId: string) =>
      refusal(harness.kyc.getKycApplication({ id: requestedId }, { caller: aBusinessCaller() }));
    const unknown = await read(uuidv7());
    expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(await read(id)).toEqual(unknown);
    expect(await read("not-a-uuid")).toEqual(unknown);
  });

  test("reads at the provider at most once in ten seconds, also for ten concurrent requests", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.open(linkUrl);
    const responses = await Promise.all(Array.from({ length: 10 }, () => harness.kyc.getKycApplication({ id }, { caller })));
    expect(responses.some(({ status }) => status === KycStatus.OPENED)).toBe(true);
    expect(responses.every((application) => application.linkUrl === linkUrl)).toBe(true);
    expect(await reads(id)).toBe(1);
  });

  test("does not read at the provider if the request accepts the stored state", async () => {
    const caller = aBusinessCaller();
    const created = await harness.create(caller);
    await harness.sandbox.open(created.linkUrl);
    expect(await harness.kyc.getKycApplication({ id: created.id, stored: true }, { caller })).toEqual(created);
    expect(await reads(created.id)).toBe(0);
  });

  test("returns the stored state while the provider is unavailable", async () => {
    const caller = aBusinessCaller();
    const created = await harness.create(caller);
    await harness.sandbox.fault("kyc_get", "http_500");
    expect(await harness.kyc.getKycApplication({ id: created.id }, { caller })).toEqual(created);
  });

  test("does not read a final application at the provider", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    const before = await reads(id);
    await harness.refreshed(id, caller);
    expect(await reads(id)).toBe(before);
  });
});

test.each([
  ["EXPIRED", (linkUrl?: string) => harness.sandbox.expire(linkUrl)],
  ["OPENED", async () => {}],
] as const)("an application with a missed failure becomes %s, and events of both changes are emitted", async (status, use) => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  await harness.sandbox.submit(linkUrl, { outcome: "failed", hold_seconds: 0.5 });
  expect(await harness.refreshed(id, caller)).toMatchObject({ status: KycStatus.PROCESSING });
  await eventually(async () => expect((await harness.sandbox.application(id)).status).toBe("FAILED"));
  await harness.sandbox.open(linkUrl);
  await use(linkUrl);
  expect(await harness.refreshed(id, caller)).toMatchObject({ status: KycStatus[status] });
  expect(await harness.eventNames(id)).toEqual(["CREATED", "PROCESSING", "FAILED", status]);
});

test("each event of an application has a greater revision than the previous event", async () => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  await harness.sandbox.open(linkUrl);
  await harness.refreshed(id, caller);
  await harness.kyc.cancelKycApplication({ id }, { caller });
  expect(await harness.eventNames(id)).toEqual(["CREATED", "OPENED", "CANCELED"]);
  const revisions = (await harness.events(id)).map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((left, right) => left - right));
});

test("an event after a restore to an earlier time has a greater revision than the lost events", async () => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  const [before] = await harness.sql("select status, sequence, attempts_used, revision from kyc_application where id = ?", [id]);
  await harness.sandbox.submit(linkUrl, { outcome: "failed", hold_seconds: 0 });
  await harness.refreshed(id, caller);
  const lost = await harness.events(id);
  expect(lost).toHaveLength(2);

  // Two events in one second also use the revision of the next second. A real restore takes longer.
  await harness.sql("select pg_sleep(2.1)");
  await harness.sql(
    "update kyc_application set (status, sequence, attempts_used, revision) = (?, ?::int, ?::int, ?::int) where id = ?",
    [before?.["status"], before?.["sequence"], before?.["attempts_used"], before?.["revision"], id],
  );
  await harness.sandbox.open(linkUrl);
  await harness.refreshed(id, caller);
  const [next, ...others] = (await harness.events(id)).slice(lost.length);
  expect(others).toHaveLength(1);
  expect(next?.revision).toBeGreaterThan(lost.at(-1)?.revision ?? 0);
});

describe("result of a submission", () => {
  test.each<[Submission, KycVerdict, string[], string[]]>([
    [{ outcome: "approved" }, KycVerdict.APPROVED, ["CREATED", "COMPLETED"], []],
    [{ outcome: "rejected", reason_codes: ["FACE_MISMATCH"] }, KycVerdict.REJECTED, ["CREATED", "REJECTED"], ["FACE_MISMATCH"]],
    [{ outcome: "needs_review" }, KycVerdict.NEEDS_REVIEW, ["CREATED", "NEEDS_REVIEW"], []],
    [{ outcome: "approved", aml_hit_count: 1 }, KycVerdict.NEEDS_REVIEW, ["CREATED", "NEEDS_REVIEW"], ["AML_MATCH"]],
    [{ outcome: "approved", document_expiry: "2020-01-01" }, KycVerdict.REJECTED, ["CREATED", "REJECTED"], ["DOCUMENT_EXPIRED"]],
  ])("%o has the verdict %i", async (submission, verdict, events, codes) => {
    const application = await harness.aDecidedApplication(submission);
    expect(application).toMatchObject({ status: KycStatus.COMPLETED, verdict, attemptsUsed: 1, attemptsRemaining: 2 });
    expect(application.reasonCodes.map(({ code }) => code)).toEqual(codes);
    expect(application.completedAtMs).toBeDefined();
    expect(await harness.eventNames(application.id)).toEqual(events);
  });

  test("without a video needs a review", async () => {
    const application = await harness.aDecidedApplication({ outcome: "approved" }, aBusinessCaller(), { requireVideo: false });
    expect(application).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW, livenessOutcome: "NOT_PERFORMED" });
  });

  test("with another name than in the profile needs a review", async () => {
    const application = await harness.aDecidedApplication(
      { outcome: "approved", first_name: "Karim", last_name: "B" },
      aBusinessCaller(),
      { profile: '{"first_name":"Amina","last_name":"B"}' },
    );
    expect(application).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW, reasonCodes: [{ code: "PROFILE_MISMATCH" }] });
  });

  test("after a failure allows another attempt while attempts remain, and emits one event for each failure", async () => {
    const caller = aBusinessCaller();
    const failed = await harness.aDecidedApplication({ outcome: "failed" }, caller, { maxAttempts: 2 });
    expect(failed).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 1 });
    expect(failed.errorMessage).toBeDefined();
    await harness.sandbox.submit(failed.linkUrl, { outcome: "failed" });
    expect(await harness.refreshed(failed.id, caller)).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 0 });
    await harness.refreshed(failed.id, caller);
    expect(await harness.eventNames(failed.id)).toEqual(["CREATED", "FAILED", "FAILED"]);
  });

  test("is EXPIRED if the applicant submits nothing", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.expire(linkUrl);
    expect(await harness.refreshed(id, caller)).toMatchObject({ status: KycStatus.EXPIRED });
    expect(await harness.eventNames(id)).toEqual(["CREATED", "EXPIRED"]);
  });
});

describe("listKycApplications", () => {
  test("returns the business's own applications, newest first, with pages and filters", async () => {
    const caller = aBusinessCaller();
    const first = await harness.create(caller, { externalId: "a'\\%" });
    const second = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    await harness.create();
    const list = async (filter: object) => {
      const { applications, total } = await harness.kyc.listKycApplications({ limit: 50, ...filter }, { caller });
      return { ids: applications.map(({ id }) => id), total };
    };
    expect(await list({})).toEqual({ ids: [second.id, first.id], total: 2 });
    expect(await list({ limit: 1, offset: 1 })).toEqual({ ids: [first.id], total: 2 });
    expect(await list({ externalId: "a'\\%" })).toEqual({ ids: [first.id], total: 1 });
    expect(await list({ status: KycStatus.COMPLETED })).toEqual({ ids: [second.id], total: 1 });
    expect(await list({ verdict: KycVerdict.REJECTED })).toEqual({ ids: [], total: 0 });
    expect(await list({ verdict: KycVerdict.APPROVED })).toEqual({ ids: [second.id], total: 1 });
    expect(await list({ clientId: goodClient })).toEqual({ ids: [], total: 0 });
    expect(await list({ createdFromMs: second.createdAtMs })).toEqual({ ids: [second.id], total: 1 });
    expect(await list({ createdToMs: second.createdAtMs })).toEqual({ ids: [first.id], total: 1 });
  });

  test.each([uuidv7(), "x"])("returns client_not_found for %s, which is no client of the business", async (clientId) => {
    await expect(harness.kyc.listKycApplications({ limit: 50, clientId }, { caller: aBusinessCaller() })).rejects.toMatchObject({
      kind: "not_found",
      code: "client_not_found",
      pointer: "",
    });
  });
});
