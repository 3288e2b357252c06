import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient } from "@amana/rpc";
import {
  aBusinessCaller,
  adminCaller,
  connectForTest,
  eventually,
  keyed,
  refusal,
  testEventSettings,
  testRpcSettings,
} from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, kycSettings, startHarness } from "./harness.ts";

/** Gives the database, the sandbox, and a service that survives; the one that crashes is a process of its own. */
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

async function startProcess(faultPoint: string) {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL("../src/main.ts", import.meta.url).pathname], {
    env: {
      PATH: process.env["PATH"],
      RPC_PORT: String(port),
      DATABASE_URL: harness.databaseUrl,
      ...testEventSettings("kyc.v1", "audit.v1"),
      ...testRpcSettings,
      ...kycSettings(harness.sandbox.url, harness.callbacks.url),
      // Without a list of events to read, only this test's calls do anything.
      KYC_CATCH_UP_SECONDS: "3600",
      LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "silent",
      FAULT_POINT: faultPoint,
    },
    stdio: "inherit",
  });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const channel = connectForTest([`http://127.0.0.1:${port}`], "kyc");
  return {
    exited,
    kyc: createRpcClient(KycApplicationService, channel),
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Makes a call on a process that is killed on the way; other failures than that are not swallowed. */
async function killedDuring(
  faultPoint: string,
  caller: ReturnType<typeof aBusinessCaller>,
  call: (kyc: Harness["kyc"]) => Promise<unknown>,
) {
  await using crashing = await startProcess(faultPoint);
  // It answers before it is asked for anything that could kill it.
  await eventually(() => crashing.kyc.listKycApplications({ limit: 1 }, { caller }));
  await expect(call(crashing.kyc)).rejects.toThrow();
  expect(await crashing.exited).toEqual([null, "SIGKILL"]);
}

const applicationsOf = (businessId: string) => harness.sql("select id from kyc_application where business_id = ?", [businessId]);

test.each([
  ["kyc_create.answered", "between the provider's answer and our commit", 0],
  ["application.linked", "right before the commit", 0],
  ["application.committed", "after the commit and before the answer", 1],
])("killed at %s, %s, the same key later gives the one application", async (faultPoint, _when, committed) => {
  const caller = aBusinessCaller();
  const create = (kyc: Harness["kyc"]) => kyc.createKycApplication({ externalId: "x" }, keyed(caller, "k"));
  await killedDuring(faultPoint, caller, create);
  expect(await applicationsOf(caller.businessId)).toHaveLength(committed);
  // Nobody waits for the killed one any more.
  await harness.sql("update idempotency_key set held_until = now() where scope = ?", [caller.businessId]);

  const application = await create(harness.kyc);
  expect(await create(harness.kyc)).toEqual(application);
  expect(await applicationsOf(caller.businessId)).toEqual([{ id: application.id }]);
  const { calls } = await harness.sandbox.application(application.id);
  const references = calls.map(({ parameters }) => parameters["reference"]).filter((reference) => reference !== undefined);
  expect(new Set(references)).toEqual(new Set([application.id]));
  expect(await harness.eventNames(application.id)).toEqual(["CREATED"]);
});

test.each(["kyc_cancel.answered", "cancel.answered", "cancel.committed"])(
  "killed at %s, the same key later gives the cancelled application, announced once",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    const cancel = (kyc: Harness["kyc"]) => kyc.cancelKycApplication({ id }, keyed(caller, "k"));
    await killedDuring(faultPoint, caller, cancel);
    // Somebody else may hear of it first.
    await harness.refreshed(id, caller);
    expect(await cancel(harness.kyc)).toMatchObject({ id, status: KycStatus.CANCELED });
    expect(await harness.eventNames(id)).toEqual(["CREATED", "CANCELED"]);
  },
);

test.each(["kyc_review.answered", "review.answered"])(
  "killed at %s, a decision is announced and audited once, by whoever learns of it",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" }, caller);
    const review = (kyc: Harness["kyc"]) =>
      kyc.reviewKycApplication({ id, outcome: KycVerdict.APPROVED, note: "seen" }, keyed(adminCaller, faultPoint));
    await killedDuring(faultPoint, caller, review);
    await harness.refreshed(id, caller);
    expect(await harness.audited(id)).toMatchObject([{ actor: adminCaller.role === "admin" ? adminCaller.keyPrefix : "" }]);
    expect(await review(harness.kyc)).toMatchObject({ id, verdict: KycVerdict.APPROVED });
    expect(await harness.eventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
    expect(await harness.audited(id)).toHaveLength(1);
  },
);

test("killed before its answer is recorded, a decision is audited by the next operator, whose own comes too late", async () => {
  const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
  const review = (kyc: Harness["kyc"], outcome: KycVerdict, options: ReturnType<typeof keyed>) =>
    kyc.reviewKycApplication({ id, outcome, note: "seen" }, options);
  await killedDuring("kyc_review.answered", aBusinessCaller(), (kyc) =>
    review(kyc, KycVerdict.APPROVED, keyed(adminCaller, "k")),
  );
  const another = { ...adminCaller, keyId: "018f0000-0000-7000-8000-000000000002", keyPrefix: "ak_another" } as const;
  // Nobody waits for the killed one any more.
  await harness.sql("update kyc_application set review_request = jsonb_set(review_request, '{untilMs}', '0') where id = ?", [id]);
  expect(await refusal(review(harness.kyc, KycVerdict.REJECTED, keyed(another, "k", "f2")))).toMatchObject({
    code: "kyc_review_not_open",
  });
  expect(await harness.audited(id)).toMatchObject([{ actor: "ak_test", after: { fields: { verdict: "APPROVED" } } }]);
  expect(await refusal(review(harness.kyc, KycVerdict.REJECTED, keyed(adminCaller, "k", "f2")))).toMatchObject({
    code: "idempotency_key_reused",
  });
  expect(await review(harness.kyc, KycVerdict.APPROVED, keyed(adminCaller, "k"))).toMatchObject({ id });
});

test("killed between a callback's answer and its commit, the callback comes again and takes effect once", async () => {
  const caller = aBusinessCaller();
  const { id, linkUrl } = await harness.create(caller);
  {
    await using crashing = await startProcess("callback.answered");
    await eventually(() => crashing.kyc.listKycApplications({ limit: 1 }, { caller }));
    const survivor = harness.door.kyc;
    harness.door.kyc = crashing.kyc;
    harness.door.isOpen = true;
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
    expect(await crashing.exited).toEqual([null, "SIGKILL"]);
    if (survivor) harness.door.kyc = survivor;
  }
  await eventually(async () => expect(await harness.eventNames(id)).toEqual(["CREATED", "COMPLETED"]));
  await eventually(async () => {
    const { callbacks } = await harness.sandbox.application(id);
    expect(callbacks.map(({ state }) => state)).not.toContain("pending");
  });
  expect(await harness.eventNames(id)).toEqual(["CREATED", "COMPLETED"]);
  harness.door.isOpen = false;
});
