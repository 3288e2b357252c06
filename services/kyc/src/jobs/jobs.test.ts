import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient } from "@amana/rpc";
import { createSecretBox } from "@amana/secret-box";
import { aBusinessCaller, eventually, forAllTenants, startTestServer } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { anApplication } from "../../test/an-application.ts";
import { type Harness, startHarness } from "../../test/harness.ts";
import { kyc as kycService } from "../service.ts";
import { createPortProvider } from "../verification-provider/port/port-provider.ts";
import { toProviders } from "../verification-provider/providers.ts";
import * as catchingUp from "./catch-up.ts";
import { checkApplications } from "./check-applications.ts";
import { deleteProviderEvents } from "./delete-provider-events.ts";
import * as notices from "./notify-document-expiry.ts";
import * as reencryption from "./reencrypt-links.ts";
import * as removal from "./remove-links.ts";

const catchUpOnce = forAllTenants(catchingUp.catchUpOnce);
const notifyDocumentExpiry = forAllTenants(notices.notifyDocumentExpiry);
const removeLinks = forAllTenants(removal.removeLinks);
const createReencryption = (...context: Parameters<typeof reencryption.createReencryption>) =>
  forAllTenants(reencryption.createReencryption(...context));

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  // Removes the planned checks of the applications that earlier tests created.
  await harness.sql("update kyc_application set next_check_at = null");
});
afterEach(async () => {
  vi.useRealTimers();
  await harness.sandbox.clearFaults();
});
afterAll(() => harness[Symbol.asyncDispose]());

const makeDue = (id: string) => harness.sql("update kyc_application set next_check_at = now() where id = ?", [id]);
const countReads = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_get").length;
const readStored = async (id: string) => {
  const [row] = await harness.sql<{ status: string; seconds: number | null }>(
    "select status, round(extract(epoch from next_check_at - now()))::int as seconds from kyc_application where id = ?",
    [id],
  );
  return row;
};

describe("checkApplications", () => {
  test("checkApplications reads an application at the provider and applies the state only when the application's check is due", async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "CREATED" });
    await makeDue(id);
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "COMPLETED", seconds: null });
  });

  test("checkApplications plans an application's next check in 300 seconds if the provider is unavailable", async () => {
    const { id } = await harness.create();
    await makeDue(id);
    await harness.sandbox.fault("kyc_get", "http_500");
    await harness.checkDue();
    const { status, seconds } = (await readStored(id)) ?? {};
    expect(status).toBe("CREATED");
    expect(seconds).toBeGreaterThan(290);
    expect(seconds).toBeLessThanOrEqual(300);
  });

  test("checkApplications reads a due application once if two replicas run the job at the same time", async () => {
    const { id } = await harness.create();
    await makeDue(id);
    await harness.checkDue(2);
    const { calls } = await harness.sandbox.application(id);
    expect(calls.filter(({ operation }) => operation === "kyc_get")).toHaveLength(1);
  });

  test("checkApplications reads an application again if `next_check_at` becomes due during a read", async () => {
    const { id, linkUrl } = await harness.create();
    await makeDue(id);
    await harness.sandbox.fault("kyc_get", "slow:500");
    await using _job = checkApplications(harness.context, 20);
    await eventually(async () => expect((await harness.sandbox.application(id)).calls).toHaveLength(2));
    await harness.sandbox.open(linkUrl);
    await harness.sql("update kyc_application set next_check_at = date_trunc('milliseconds', now()) where id = ?", [id]);
    await eventually(async () => expect(await readStored(id)).toMatchObject({ status: "OPENED" }));
  });

  test("checkApplications applies a reviewer's decision at the provider to an application in review", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.aDecidedApplication({ outcome: "needs_review" }, caller);
    await harness.sandbox.review(linkUrl, "approved");
    await makeDue(id);
    await harness.checkDue();
    expect(await harness.kyc.getKycApplication({ id }, { caller })).toMatchObject({ verdict: KycVerdict.APPROVED });
  });

  test("checkApplications sets an application to EXPIRED 90 seconds after its link has expired, even if the provider reports another status", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller, { ttlHours: 1 });
    await harness.readRefreshed(id, caller);
    await harness.sql("update kyc_application set link_expires_at = now() - interval '90 seconds' where id = ?", [id]);
    await makeDue(id);
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "EXPIRED", seconds: null });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "EXPIRED"]);
    expect(await harness.kyc.getKycApplication({ id }, { caller })).toMatchObject({ status: KycStatus.EXPIRED });
  });

  test("checkApplications stores the verdict on a submission that was made before the link's expiry, even if an earlier read ends after the expiry", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller, { ttlHours: 1 });
    await harness.sandbox.open(linkUrl);
    await harness.readRefreshed(id, caller);
    await makeDue(id);
    await harness.sandbox.fault("kyc_get", "slow:2000");
    await using _job = checkApplications(harness.context, 20);
    await eventually(async () => expect(await countReads(id)).toBe(2));
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    // Ends the link before the provider responds to the read.
    await harness.sql(
      `update kyc_application set link_expires_at = now() - interval '60 seconds', next_check_at = date_trunc('milliseconds', now())
       where id = ?`,
      [id],
    );
    await eventually(async () => expect(await readStored(id)).toMatchObject({ status: "COMPLETED" }));
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "OPENED", "COMPLETED"]);
  });
});

describe.each([
  ["behind", -6],
  ["ahead", 6],
])("checkApplications, in a replica with a clock six hours %s", (direction, hours) => {
  test(`checkApplications uses the database's clock to expire applications and plan checks if the replica's clock is six hours ${direction}`, async () => {
    const caller = aBusinessCaller();
    const [openApplication, expiredApplication] = [
      await harness.create(caller, { ttlHours: 1 }),
      await harness.create(caller, { ttlHours: 1 }),
    ];
    for (const { id } of [openApplication, expiredApplication]) await harness.readRefreshed(id, caller);
    await harness.sql("update kyc_application set link_expires_at = now() - interval '90 seconds' where id = ?", [
      expiredApplication.id,
    ]);
    for (const { id } of [openApplication, expiredApplication]) await makeDue(id);

    vi.useFakeTimers({ now: Date.now() + hours * 3_600_000, toFake: ["Date"] });
    await harness.checkDue();
    expect(await readStored(expiredApplication.id)).toEqual({ status: "EXPIRED", seconds: null });
    const { status, seconds } = (await readStored(openApplication.id)) ?? {};
    expect(status).toBe("CREATED");
    expect(seconds).toBeGreaterThan(200);
    expect(seconds).toBeLessThanOrEqual(300);
  });
});

describe("catchUpOnce", () => {
  test("catchUpOnce schedules a check, and a concurrent read that began before the provider's change does not remove this check", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.sandbox.fault("kyc_get", "slow:700");
    const refreshedApplication = harness.readRefreshed(id, caller);
    await eventually(async () => expect((await harness.sandbox.application(id)).calls).toHaveLength(2));
    await harness.sandbox.open(linkUrl);
    expect(await catchUpOnce(harness.context)).toBe(1);
    expect(await refreshedApplication).toMatchObject({ status: KycStatus.CREATED });
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "OPENED" });
  });

  test("catchUpOnce schedules a check of a FAILED application if the provider has cancelled the application, even though no attempt remains", async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "failed" }, aBusinessCaller(), { maxAttempts: 1 });
    expect(await readStored(id)).toEqual({ status: "FAILED", seconds: null });
    // Simulates a cancellation whose response was not recorded.
    const { provider_id: providerId } = await harness.sandbox.application(id);
    await harness.context.providers.current.cancel({ ...anApplication().toKnownApplication(), providerId }, "CANCELED", 1_000);
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "CANCELED", seconds: null });
  });

  test("catchUpOnce schedules a check of an EXPIRED application if the provider has a late verdict, and checkApplications applies the verdict", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.open(linkUrl);
    await harness.readRefreshed(id, caller);
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.sql("update kyc_application set link_expires_at = now() - interval '90 seconds' where id = ?", [id]);
    await makeDue(id);
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "EXPIRED", seconds: null });

    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "COMPLETED", seconds: null });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "OPENED", "EXPIRED", "COMPLETED"]);
    expect(await harness.kyc.getKycApplication({ id }, { caller })).toMatchObject({
      status: KycStatus.COMPLETED,
      verdict: KycVerdict.APPROVED,
    });
  });

  test("catchUpOnce schedules a check of an EXPIRED application, and checkApplications repeats the check until a read succeeds", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.open(linkUrl);
    await harness.readRefreshed(id, caller);
    await harness.sql("update kyc_application set status = 'EXPIRED', next_check_at = null where id = ?", [id]);
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.sandbox.fault("kyc_get", "http_500", 2);
    for (const readCount of [1, 2, 3]) {
      await harness.checkDue();
      expect(await countReads(id)).toBe(1 + readCount);
      await harness.sql("update kyc_application set next_check_at = now() where id = ? and next_check_at is not null", [id]);
    }
    await harness.checkDue();
    expect(await readStored(id)).toEqual({ status: "COMPLETED", seconds: null });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "OPENED", "COMPLETED"]);
  });

  test("catchUpOnce schedules a check of an EXPIRED application, and a concurrent read that began before the verdict does not remove this check", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.open(linkUrl);
    await harness.readRefreshed(id, caller);
    while ((await catchUpOnce(harness.context)) > 0);
    await harness.sql("update kyc_application set status = 'EXPIRED', next_check_at = now() where id = ?", [id]);
    await harness.sandbox.fault("kyc_get", "slow:700");
    await using _job = checkApplications(harness.context, 20);
    await eventually(async () => expect(await countReads(id)).toBe(2));
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    while ((await catchUpOnce(harness.context)) > 0);
    await eventually(async () => expect(await readStored(id)).toEqual({ status: "COMPLETED", seconds: null }));
  });

  test("catchUpOnce stores the cursor of a page of events even if the page contains no readable event", async () => {
    await using server = createServer((_request, response) => response.end('{"events":[null,{"sequence":"x"}],"cursor":"7"}'));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using provider = createPortProvider({ url, token: "t", callbackUrl: url, callbackSecrets: [], timeoutMs: 1_000 });
    const [cursorBefore] = await harness.sql<{ cursor: string }>("select cursor from provider_cursor");
    expect(await catchUpOnce({ ...harness.context, providers: toProviders("port", [provider], harness.context.logger) })).toBe(0);
    expect(await harness.sql("select cursor from provider_cursor")).toEqual([{ cursor: "7" }]);
    await harness.sql("update provider_cursor set cursor = ?", [cursorBefore?.cursor]);
  });

  test("catchUpOnce schedules a check only of the application that changed at the provider", async () => {
    const [changedApplication, unchangedApplication] = [await harness.create(), await harness.create()];
    await harness.sandbox.open(changedApplication.linkUrl);
    while ((await catchUpOnce(harness.context)) > 0);
    expect((await readStored(changedApplication.id))?.seconds).toBeLessThanOrEqual(0);
    expect((await readStored(unchangedApplication.id))?.seconds).toBeGreaterThan(200);
    await harness.checkDue();
    expect(await readStored(changedApplication.id)).toMatchObject({ status: "OPENED" });
    expect(await catchUpOnce(harness.context)).toBe(0);
  });
});

describe("stored links", () => {
  const readCiphertext = async (id: string) => {
    const [row] = await harness.sql<{ link: string | null }>("select link_ciphertext as link from kyc_application where id = ?", [
      id,
    ]);
    return row?.link;
  };
  const setAge = (id: string, days: number) =>
    harness.sql("update kyc_application set updated_at = now() - ?::int * interval '1 day' where id = ?", [days, id]);
  const aKey = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
  const [k1, k2] = [aKey("k1", 7), aKey("k2", 8)];
  /** Returns the context of a kyc service with the given encryption keys. */
  const contextWithKeys = (...keys: (typeof k1)[]) => ({ ...harness.context, secrets: createSecretBox(keys) });
  const readLinks = async (context: typeof harness.context, caller: ReturnType<typeof aBusinessCaller>) => {
    await using service = await startTestServer(kycService.rpcServices(context));
    const kyc = createRpcClient(KycApplicationService, service.channel);
    const { applications } = await kyc.listKycApplications({ limit: 10 }, { caller });
    const singleApplications = await Promise.all(
      applications.map(({ id }) => kyc.getKycApplication({ id, stored: true }, { caller })),
    );
    expect(singleApplications.map(({ linkUrl }) => linkUrl)).toEqual(applications.map(({ linkUrl }) => linkUrl));
    return applications.map(({ linkUrl }) => linkUrl);
  };

  test("removeLinks removes an application's link 30 days after the application ended, and responses then omit the link", async () => {
    const caller = aBusinessCaller();
    const endedApplication = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    const failedApplication = await harness.aDecidedApplication({ outcome: "failed" }, caller, { maxAttempts: 1 });
    const keptApplications = [
      await harness.aDecidedApplication({ outcome: "failed" }, caller),
      await harness.aDecidedApplication({ outcome: "rejected" }, caller),
      await harness.create(caller),
    ];
    for (const { id } of [endedApplication, failedApplication, ...keptApplications]) await setAge(id, 31);
    await setAge(keptApplications[1]?.id ?? "", 29);
    while ((await removeLinks(harness.context)) > 0);
    expect(await Promise.all([endedApplication, failedApplication].map(({ id }) => readCiphertext(id)))).toEqual([null, null]);
    const links = await readLinks(harness.context, caller);
    expect(links).toEqual([...keptApplications.map(({ linkUrl }) => linkUrl).reverse(), undefined, undefined]);
    expect(await harness.kyc.getKycApplication({ id: endedApplication.id }, { caller })).toMatchObject({
      verdict: KycVerdict.APPROVED,
    });
  });

  test("removeLinks removes a link 30 days after the verdict, even if the application has changed since then", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    const setCompleted = (days: number) =>
      harness.sql("update kyc_application set completed_at = now() - ?::int * interval '1 day' where id = ?", [days, id]);
    await setCompleted(29);
    while ((await removeLinks(harness.context)) > 0);
    expect(await readCiphertext(id)).not.toBeNull();
    await setCompleted(31);
    while ((await removeLinks(harness.context)) > 0);
    expect(await readCiphertext(id)).toBeNull();
  });

  test("createReencryption re-encrypts links from a former key to the current key, and skips links that it cannot decrypt", async () => {
    await harness.sql("update kyc_application set link_ciphertext = null");
    const caller = aBusinessCaller();
    const createdApplications = await Promise.all(Array.from({ length: 5 }, () => harness.create(caller)));
    const [alteredId, unknownKeyId, ...readableIds] = createdApplications.map(({ id }) => id);
    await harness.sql("update kyc_application set link_ciphertext = 'k1:AAAA' where id = ?", [alteredId]);
    await harness.sql("update kyc_application set link_ciphertext = 'k0:AAAA' where id = ?", [unknownKeyId]);

    const rotatedContext = contextWithKeys(k2, k1);
    const reencryptBatch = createReencryption(rotatedContext);
    expect([await reencryptBatch(), await reencryptBatch()]).toEqual([4, 0]);
    for (const id of readableIds) expect(await readCiphertext(id)).toMatch(/^k2:/);
    // With only the new key, kyc can decrypt all links except the two that this test altered.
    const links = new Map(createdApplications.map(({ id, linkUrl }) => [id, linkUrl]));
    const expectedLinks = [...links].map(([id, link]) => (readableIds.includes(id) ? link : undefined)).sort();
    expect((await readLinks(contextWithKeys(k2), caller)).sort()).toEqual(expectedLinks);
    expect([await reencryptBatch(), await reencryptBatch()]).toEqual([1, 0]);
  });

  test("createReencryption processes no links if no former key is configured", async () => {
    expect(await createReencryption(harness.context)()).toBe(0);
  });

  test("listKycApplications and cancelKycApplication omit a link if its encryption key is not configured", async () => {
    const caller = aBusinessCaller();
    const readableBefore = await harness.create(caller);
    await using service = await startTestServer(kycService.rpcServices(contextWithKeys(k2)));
    const kyc = createRpcClient(KycApplicationService, service.channel);
    const newApplication = await kyc.createKycApplication({}, { caller, timeoutMs: 20_000 });
    expect(await readLinks(contextWithKeys(k2), caller)).toEqual([newApplication.linkUrl, undefined]);
    const canceledApplication = await kyc.cancelKycApplication({ id: readableBefore.id }, { caller });
    expect(canceledApplication).toMatchObject({ status: KycStatus.CANCELED });
    expect(canceledApplication).not.toHaveProperty("linkUrl");
  });
});

describe("notifyDocumentExpiry", () => {
  test("notifyDocumentExpiry emits one event 30 days before, one 7 days before and one after the expiry of an approved application's document", async () => {
    const firstExpiry = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);
    const approvedApplication = await harness.aDecidedApplication({ outcome: "approved", document_expiry: firstExpiry });
    const rejectedApplication = await harness.aDecidedApplication({ outcome: "rejected", document_expiry: firstExpiry });
    for (const days of [0, 69, 70, 71, 92, 93, 94, 100, 101, 102]) {
      // Changes the expiry instead of the time, because a test cannot change the database's clock.
      await harness.sql(
        "update kyc_application set document_expiry = (?::date - ?::int)::text where document_expiry is not null",
        [firstExpiry, days],
      );
      while ((await notifyDocumentExpiry(harness.context)) > 0);
    }
    const firstEvents = ["CREATED", "COMPLETED"];
    expect(await harness.readEventNames(approvedApplication.id)).toEqual([
      ...firstEvents,
      "DOCUMENT_EXPIRING",
      "DOCUMENT_EXPIRING",
      "DOCUMENT_EXPIRED",
    ]);
    expect(await harness.readEventNames(rejectedApplication.id)).toEqual(["CREATED", "REJECTED"]);
  });
});

test("deleteProviderEvents deletes rows older than 30 days in batches, and returns the size of each batch", async () => {
  await harness.sql("truncate provider_event");
  await harness.sql(
    "insert into provider_event select i, now() - make_interval(days => i) from unnest(array[1, 29, 31, 32, 33]) as i",
  );
  expect(await deleteProviderEvents(harness.context, 2)).toBe(2);
  expect(await deleteProviderEvents(harness.context, 2)).toBe(1);
  expect(await deleteProviderEvents(harness.context, 2)).toBe(0);
  expect(await harness.sql("select event_id from provider_event order by 1")).toEqual([{ event_id: "1" }, { event_id: "29" }]);
});
