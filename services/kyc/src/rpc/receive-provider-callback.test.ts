import { createHmac } from "node:crypto";
import { KycStatus } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { callbackSecret } from "../../test/sandbox.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => {
  harness.callbackTarget.isReachable = true;
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const { ACCEPTED, BAD_SIGNATURE } = ProviderCallbackResult;
const readStored = async (id: string) => {
  const [row] = await harness.sql<{ status: string; sequence: number; synced_at: string }>(
    "select status, sequence, synced_at from kyc_application where id = ?",
    [id],
  );
  return row;
};
const countReads = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_get").length;

/** Sends a callback with any content directly to kyc, not from the sandbox. */
async function sendCallback(content: object | string, secret = callbackSecret, ageSeconds = 0) {
  const body = Buffer.from(typeof content === "string" ? content : JSON.stringify(content));
  const time = Math.floor(Date.now() / 1000) - ageSeconds;
  const mac = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
  const signature = `t=${time},v1=${mac}`;
  return (await harness.kyc.receiveProviderCallback({ body, signature }, { caller: platformCaller })).result;
}

async function aHint(id: string, sequence: number, event_id: string = uuidv7()) {
  const { provider_id } = await harness.sandbox.application(id);
  return { event_id, sequence, type: "application.completed", application: { provider_id, reference: id, status: "COMPLETED" } };
}

describe("callbacks of the sandbox", () => {
  test("kyc applies a provider's callback to the application without a request by the business", async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.open(linkUrl);
    await eventually(async () => expect(await readStored(id)).toMatchObject({ status: "OPENED" }));
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await eventually(async () => expect(await readStored(id)).toMatchObject({ status: "COMPLETED" }));
    const names = await harness.readEventNames(id);
    expect(names.slice(0, 2)).toEqual(["CREATED", "OPENED"]);
    expect(names.filter((name) => name === "COMPLETED")).toHaveLength(1);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(["duplicate", "reorder", "timeout_before", "reset_after", "bad_signature"])(
    "kyc changes the application to COMPLETED and emits no event twice if callbacks have the fault %s",
    async (mode) => {
      const { id, linkUrl } = await harness.create();
      await harness.sandbox.fault("kyc_callback", mode, 2);
      await harness.sandbox.submit(linkUrl, { outcome: "rejected", hold_seconds: 0 });
      await eventually(async () => {
        expect(await readStored(id)).toMatchObject({ status: "COMPLETED" });
        const { callbacks } = await harness.sandbox.application(id);
        expect(callbacks.map(({ state }) => state)).not.toContain("pending");
      });
      const names = await harness.readEventNames(id);
      expect(new Set(names).size).toBe(names.length);
      expect(names.at(-1)).toBe("REJECTED");
    },
  );
});

describe("receiveProviderCallback", () => {
  beforeEach(() => {
    harness.callbackTarget.isReachable = false;
  });

  test("receiveProviderCallback stores the state that it reads at the provider, not the state in the callback", async () => {
    const { id } = await harness.create();
    expect(await sendCallback(await aHint(id, 99))).toBe(ACCEPTED);
    expect(await readStored(id)).toMatchObject({ status: "CREATED", sequence: 1 });
  });

  test("receiveProviderCallback accepts a repeated callback without another call to the provider", async () => {
    const { id } = await harness.create();
    const hint = await aHint(id, 99, "e-1");
    await sendCallback(hint);
    const readsBeforeRepeat = await countReads(id);
    expect(await sendCallback(hint)).toBe(ACCEPTED);
    expect(await countReads(id)).toBe(readsBeforeRepeat);
  });

  test("receiveProviderCallback changes only synced_at if the callback's sequence is lower than the stored sequence", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "approved" }, caller);
    const rowBefore = await readStored(id);
    const readsBefore = await countReads(id);
    expect(await sendCallback(await aHint(id, 1))).toBe(ACCEPTED);
    const rowAfter = await readStored(id);
    expect(rowAfter).toMatchObject({ status: "COMPLETED", sequence: rowBefore?.sequence });
    expect(new Date(rowAfter?.synced_at ?? 0) > new Date(rowBefore?.synced_at ?? 0)).toBe(true);
    expect(await countReads(id)).toBe(readsBefore);
  });

  test("receiveProviderCallback throws kyc_provider_unavailable and plans a check while reads fail, and later accepts the repeated callback", async () => {
    const { id } = await harness.create();
    await harness.sandbox.fault("kyc_get", "http_500");
    const hint = await aHint(id, 2);
    expect(await refusal(sendCallback(hint))).toMatchObject({ kind: "unavailable", code: "kyc_provider_unavailable" });
    expect(await harness.sql("select 1 from provider_event where event_id = ?", [hint.event_id])).toEqual([]);
    expect(await harness.sql("select next_check_at <= now() as is_due from kyc_application where id = ?", [id])).toEqual([
      { is_due: true },
    ]);
    expect(await sendCallback(hint)).toBe(ACCEPTED);
  });

  test.each([
    ["a callback that is signed with an unknown secret", "another secret", 0],
    ["a callback whose signature is 301 seconds old", callbackSecret, 301],
    ["a callback whose signature time is 302 seconds in the future", callbackSecret, -302],
  ])("receiveProviderCallback rejects %s and stores nothing", async (_name, secret, ageSeconds) => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.open(linkUrl);
    const hint = await aHint(id, 2);
    expect(await sendCallback(hint, secret, ageSeconds)).toBe(BAD_SIGNATURE);
    expect(await readStored(id)).toMatchObject({ status: "CREATED" });
    expect(await harness.sql("select 1 from provider_event where event_id = ?", [hint.event_id])).toEqual([]);
  });

  test.each([
    ["about an unknown application", { event_id: "e", sequence: 9, application: { provider_id: "x", reference: uuidv7() } }],
    ["with an invalid reference", { event_id: "e", sequence: 9, application: { provider_id: "x", reference: "'" } }],
    ["without an event id", { sequence: 9, application: { provider_id: "x", reference: uuidv7() } }],
    ["that is not an object", "[]"],
    ["that is not JSON", "{"],
    ["that is null", "null"],
  ])("receiveProviderCallback returns ACCEPTED for a signed callback %s", async (_name, content) => {
    expect(await sendCallback(content)).toBe(ACCEPTED);
  });

  test("receiveProviderCallback rejects a caller that is not the platform", async () => {
    const call = harness.kyc.receiveProviderCallback({ body: Buffer.from("{}"), signature: "" }, { caller: aBusinessCaller() });
    expect(await refusal(call)).toMatchObject({ code: "platform_required" });
  });

  test("receiveProviderCallback does not change the status of a CANCELED application", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    await harness.kyc.cancelKycApplication({ id }, { caller });
    await sendCallback(await aHint(id, 99));
    expect(await harness.kyc.getKycApplication({ id }, { caller })).toMatchObject({ status: KycStatus.CANCELED });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
  });
});
