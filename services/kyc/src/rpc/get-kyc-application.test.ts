import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness, unblockedClient } from "../../test/harness.ts";
import type { Submission } from "../../test/sandbox.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const countReads = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_get").length;

describe("getKycApplication", () => {
  test("getKycApplication throws the same error not_found for another business's application, an unknown id and a malformed id", async () => {
    const { id } = await harness.create();
    const readError = (requestedId: string) =>
      refusal(harness.kyc.getKycApplication({ id: requestedId }, { caller: aBusinessCaller() }));
    const unknownIdError = await readError(uuidv7());
    expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(await readError(id)).toEqual(unknownIdError);
    expect(await readError("not-a-uuid")).toEqual(unknownIdError);
  });

  test("getKycApplication reads an application at the provider once for ten concurrent requests", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.open(linkUrl);
    const responses = await Promise.all(Array.from({ length: 10 }, () => harness.kyc.getKycApplication({ id }, { caller })));
    expect(responses.some(({ status }) => status === KycStatus.OPENED)).toBe(true);
    expect(responses.every((application) => application.linkUrl === linkUrl)).toBe(true);
    expect(await countReads(id)).toBe(1);
  });

  test("getKycApplication with `stored` returns the stored state without a call to the provider", async () => {
    const caller = aBusinessCaller();
    const createdApplication = await harness.create(caller);
    await harness.sandbox.open(createdApplication.linkUrl);
    expect(await harness.kyc.getKycApplication({ id: createdApplication.id, stored: true }, { caller })).toEqual(
      createdApplication,
    );
    expect(await countReads(createdApplication.id)).toBe(0);
  });

  test("getKycApplication returns the stored state while the provider is unavailable", async () => {
    const caller = aBusinessCaller();
    const createdApplication = await harness.create(caller);
    await harness.sandbox.fault("kyc_get", "http_500");
    expect(await harness.kyc.getKycApplication({ id: createdApplication.id }, { caller })).toEqual(createdApplication);
  });

  test("getKycApplication does not read an application with a final verdict at the provider", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    const readsBefore = await countReads(id);
    await harness.readRefreshed(id, caller);
    expect(await countReads(id)).toBe(readsBefore);
  });
});

test.each([
  ["EXPIRED", (linkUrl?: string) => harness.sandbox.expire(linkUrl)],
  ["OPENED", async () => {}],
] as const)(
  "getKycApplication emits KYC_FAILED and then %s if an attempt failed between two reads at the provider",
  async (status, changeAtProvider) => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "failed", hold_seconds: 5 });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.PROCESSING });
    await eventually(async () => expect((await harness.sandbox.application(id)).status).toBe("FAILED"));
    await harness.sandbox.open(linkUrl);
    await changeAtProvider(linkUrl);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus[status] });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "PROCESSING", "FAILED", status]);
  },
);

test("kyc emits each event of an application with a greater revision than the application's previous event", async () => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  await harness.sandbox.open(linkUrl);
  await harness.readRefreshed(id, caller);
  await harness.kyc.cancelKycApplication({ id }, { caller });
  expect(await harness.readEventNames(id)).toEqual(["CREATED", "OPENED", "CANCELED"]);
  const revisions = (await harness.readEvents(id)).map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].sort((left, right) => left - right));
});

test("kyc emits the first event after a database restore with a greater revision than all events that the restore lost", async () => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  const [rowBefore] = await harness.sql("select status, sequence, attempts_used, revision from kyc_application where id = ?", [
    id,
  ]);
  await harness.sandbox.submit(linkUrl, { outcome: "failed", hold_seconds: 0 });
  await harness.readRefreshed(id, caller);
  const lostEvents = await harness.readEvents(id);
  expect(lostEvents).toHaveLength(2);

  // Waits until the revision that is computed from the clock exceeds the revisions of the two lost
  // events. A real restore takes longer than two seconds.
  await harness.sql("select pg_sleep(2.1)");
  await harness.sql(
    "update kyc_application set (status, sequence, attempts_used, revision) = (?, ?::int, ?::int, ?::int) where id = ?",
    [rowBefore?.["status"], rowBefore?.["sequence"], rowBefore?.["attempts_used"], rowBefore?.["revision"], id],
  );
  await harness.sandbox.open(linkUrl);
  await harness.readRefreshed(id, caller);
  const [nextEvent, ...otherEvents] = (await harness.readEvents(id)).slice(lostEvents.length);
  expect(otherEvents).toHaveLength(1);
  expect(nextEvent?.revision).toBeGreaterThan(lostEvents.at(-1)?.revision ?? 0);
});

describe("result of a submission", () => {
  test.each<[Submission, KycVerdict, string[], string[]]>([
    [{ outcome: "approved" }, KycVerdict.APPROVED, ["CREATED", "COMPLETED"], []],
    [{ outcome: "rejected", reason_codes: ["FACE_MISMATCH"] }, KycVerdict.REJECTED, ["CREATED", "REJECTED"], ["FACE_MISMATCH"]],
    [{ outcome: "needs_review" }, KycVerdict.NEEDS_REVIEW, ["CREATED", "NEEDS_REVIEW"], []],
    [{ outcome: "approved", aml_hit_count: 1 }, KycVerdict.NEEDS_REVIEW, ["CREATED", "NEEDS_REVIEW"], ["AML_MATCH"]],
    [{ outcome: "approved", document_expiry: "2020-01-01" }, KycVerdict.REJECTED, ["CREATED", "REJECTED"], ["DOCUMENT_EXPIRED"]],
  ])(
    "getKycApplication after the submission %j returns the verdict with the enum number %i",
    async (submission, verdict, events, codes) => {
      const application = await harness.aDecidedApplication(submission);
      expect(application).toMatchObject({ status: KycStatus.COMPLETED, verdict, attemptsUsed: 1, attemptsRemaining: 2 });
      expect(application.reasonCodes.map(({ code }) => code)).toEqual(codes);
      expect(application.completedAtMs).toBeDefined();
      expect(await harness.readEventNames(application.id)).toEqual(events);
    },
  );

  test("getKycApplication returns NEEDS_REVIEW if the provider approved a submission without a video", async () => {
    const application = await harness.aDecidedApplication({ outcome: "approved" }, aBusinessCaller(), { requireVideo: false });
    expect(application).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW, livenessOutcome: "NOT_PERFORMED" });
  });

  test("getKycApplication returns NEEDS_REVIEW with PROFILE_MISMATCH if the document's name differs from the profile", async () => {
    const application = await harness.aDecidedApplication(
      { outcome: "approved", first_name: "Karim", last_name: "B" },
      aBusinessCaller(),
      { profile: '{"first_name":"Amina","last_name":"B"}' },
    );
    expect(application).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW, reasonCodes: [{ code: "PROFILE_MISMATCH" }] });
  });

  test("kyc emits one event for each failed attempt of an application", async () => {
    const caller = aBusinessCaller();
    const failedApplication = await harness.aDecidedApplication({ outcome: "failed" }, caller, { maxAttempts: 2 });
    expect(failedApplication).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 1 });
    expect(failedApplication.errorMessage).toBeDefined();
    await harness.sandbox.submit(failedApplication.linkUrl, { outcome: "failed" });
    expect(await harness.readRefreshed(failedApplication.id, caller)).toMatchObject({
      status: KycStatus.FAILED,
      attemptsRemaining: 0,
    });
    await harness.readRefreshed(failedApplication.id, caller);
    expect(await harness.readEventNames(failedApplication.id)).toEqual(["CREATED", "FAILED", "FAILED"]);
  });

  test("getKycApplication returns EXPIRED if the link expired at the provider before the applicant submitted", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.expire(linkUrl);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.EXPIRED });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "EXPIRED"]);
  });
});

describe("listKycApplications", () => {
  test("listKycApplications returns the business's applications in pages, newest first, and applies each filter", async () => {
    const caller = aBusinessCaller();
    const firstApplication = await harness.create(caller, { externalId: "a'\\%" });
    const secondApplication = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    await harness.create();
    const list = async (filter: object) => {
      const { applications, total } = await harness.kyc.listKycApplications({ limit: 50, ...filter }, { caller });
      return { ids: applications.map(({ id }) => id), total };
    };
    expect(await list({})).toEqual({ ids: [secondApplication.id, firstApplication.id], total: 2 });
    expect(await list({ limit: 1, offset: 1 })).toEqual({ ids: [firstApplication.id], total: 2 });
    expect(await list({ externalId: "a'\\%" })).toEqual({ ids: [firstApplication.id], total: 1 });
    expect(await list({ status: KycStatus.COMPLETED })).toEqual({ ids: [secondApplication.id], total: 1 });
    expect(await list({ verdict: KycVerdict.REJECTED })).toEqual({ ids: [], total: 0 });
    expect(await list({ verdict: KycVerdict.APPROVED })).toEqual({ ids: [secondApplication.id], total: 1 });
    expect(await list({ clientId: unblockedClient })).toEqual({ ids: [], total: 0 });
    expect(await list({ createdFromMs: secondApplication.createdAtMs })).toEqual({ ids: [secondApplication.id], total: 1 });
    expect(await list({ createdToMs: secondApplication.createdAtMs })).toEqual({ ids: [firstApplication.id], total: 1 });
  });

  test.each([uuidv7(), "x"])("listKycApplications returns client_not_found for the client id %s", async (clientId) => {
    await expect(harness.kyc.listKycApplications({ limit: 50, clientId }, { caller: aBusinessCaller() })).rejects.toMatchObject({
      kind: "not_found",
      code: "client_not_found",
      pointer: "",
    });
  });
});
