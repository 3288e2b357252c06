import { hashApiKey } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { sleep } from "@amana/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, idempotent, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
afterEach(() => identity[Symbol.asyncDispose]());

/** All requests that remove access. */
const revocations = {
  revoke: async ({ apiKeys }: Identity, key: Key) => await apiKeys.revokeApiKey({ id: key.id }, asAdmin),
  "rotate by an operator": async ({ businesses }: Identity, key: Key) =>
    await businesses.updateBusiness({ id: key.businessId, rotateApiKey: true }, asAdmin),
  "rotate by the business": async ({ businesses }: Identity, key: Key) =>
    await businesses.updateOwnBusiness({ rotateApiKey: true }, await identity.as(key.plaintext)),
  "revoke by the business": async ({ businesses }: Identity, key: Key) => {
    const other = await identity.apiKeys.createApiKey({ businessId: key.businessId, name: "other" }, asAdmin);
    return await businesses.revokeOwnApiKey({ id: key.id }, await identity.as(other.apiKey));
  },
  disable: async ({ businesses }: Identity, key: Key) =>
    await businesses.updateBusiness({ id: key.businessId, status: BusinessStatus.DISABLED }, asAdmin),
};

interface Key {
  id: string;
  businessId: string;
  plaintext: string;
}

async function aKey(): Promise<Key> {
  const { id: businessId, apiKey: plaintext = "" } = await identity.aBusiness();
  return { id: (await identity.resolve(plaintext)).keyId, businessId, plaintext };
}

describe("the response to a removal of access", () => {
  test.each(Object.entries(revocations))("follows the commit and the longest lease: %s", async (_name, removeAccess) => {
    const order: string[] = [];
    let key: Key | undefined;
    identity = await startIdentityForTest({
      leaseMs: 500,
      async wait(ms) {
        order.push(`waits ${ms}`, (await identity.stateOf(key?.plaintext)) === "LIVE" ? "key live" : "key refused");
        await new Promise((resolve) => setImmediate(resolve));
        order.push("wait ended");
      },
    });
    key = await aKey();
    await removeAccess(identity, key);
    order.push("responded");
    expect(order).toEqual(["waits 550", "key refused", "wait ended", "responded"]);
  });

  test("waits also for a rotation with a grace period, because gateways must resolve the new expiry", async () => {
    const waits: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waits.push(ms) });
    const key = await aKey();
    const request = { rotateApiKey: true, previousKeyTtlSeconds: 1 };
    await identity.businesses.updateOwnBusiness(request, await identity.as(key.plaintext));
    expect(waits).toEqual([550]);
  });

  test("waits also for repeated requests", async () => {
    const waits: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waits.push(ms) });
    const { id, businessId } = await aKey();
    const keyed = { ...asAdmin, ...idempotent("revoke") };
    const disable = () => identity.businesses.updateBusiness({ id: businessId, status: BusinessStatus.DISABLED }, asAdmin);
    const revoke = () => identity.apiKeys.revokeApiKey({ id }, asAdmin);
    const replay = () => identity.apiKeys.revokeApiKey({ id }, keyed);
    for (const repeat of [replay, replay, revoke, disable, disable]) await repeat();
    expect(waits).toEqual([550, 550, 550, 550, 550]);
  });

  test("does not wait for requests that remove no access", async () => {
    const waits: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waits.push(ms) });
    const { id, apiKey } = await identity.aBusiness();
    await identity.businesses.updateBusiness({ id, name: "x", status: BusinessStatus.ACTIVE }, asAdmin);
    await identity.businesses.updateOwnBusiness({ name: "y" }, await identity.as(apiKey));
    await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
    const { id: keyless } = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
    await identity.businesses.updateBusiness({ id: keyless, status: BusinessStatus.ACTIVE }, asAdmin);
    expect(waits).toEqual([]);
  });

  test("waits also in a replica without leases, because another replica may have granted the longest lease", async () => {
    const waits: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 0, wait: async (ms) => void waits.push(ms) });
    for (const removeAccess of Object.values(revocations)) {
      const key = await aKey();
      await removeAccess(identity, key);
      expect(await identity.stateOf(key.plaintext)).not.toBe("LIVE");
    }
    expect(waits).toEqual(Object.keys(revocations).map(() => 550));
  });
});

/** A gateway that caches a key for the duration of the lease. */
function aGateway({ keyLeases }: Pick<Identity, "keyLeases">) {
  let lease = { live: false, untilMs: 0 };
  return {
    async accepts(plaintext: string): Promise<boolean> {
      if (performance.now() < lease.untilMs) return lease.live;
      const sentAtMs = performance.now();
      const { resolutions, leaseMs } = await keyLeases.resolveKeys({ keyHashes: [hashApiKey(plaintext)] }, asPlatform);
      lease = { live: resolutions[0]?.state === KeyState.LIVE, untilMs: sentAtMs + leaseMs };
      return lease.live;
    },
  };
}

describe("two identity replicas and four gateways under load", () => {
  test.each(Object.entries(revocations))("accept no key after the response: %s", async (_name, removeAccess) => {
    // The replica that removes access grants no leases. The gateways hold leases of the other one.
    identity = await startIdentityForTest({ leaseMs: 0, wait: sleep });
    const other = await identity.addReplica(500);

    for (let round = 0; round < 3; round++) {
      const key = await aKey();
      const gateways = [identity, other, identity, other].map(aGateway);
      expect(await Promise.all(gateways.map((gateway) => gateway.accepts(key.plaintext)))).toEqual(Array(4).fill(true));
      let hasResponse = false;
      const counts = { afterResponse: 0, wronglyAccepted: 0 };
      const load = gateways.map(async (gateway) => {
        for (let requests = 0; requests < 50; ) {
          const isSentAfterResponse = hasResponse;
          const accepted = await gateway.accepts(key.plaintext);
          if (isSentAfterResponse) {
            requests++;
            counts.afterResponse++;
            counts.wronglyAccepted += accepted ? 1 : 0;
          }
          // Lets the response and timers be processed.
          await new Promise((resolve) => setImmediate(resolve));
        }
      });
      await removeAccess(identity, key);
      hasResponse = true;
      await Promise.all(load);
      expect(counts).toEqual({ afterResponse: 200, wronglyAccepted: 0 });
    }
  });
});
