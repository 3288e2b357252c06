import { hashApiKey } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { sleep } from "@amana/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
afterEach(() => identity[Symbol.asyncDispose]());

/** Requests that remove the access of a key, by description. */
const revocations = {
  "revoke the key as an operator": async ({ apiKeys }: Identity, key: Key) => await apiKeys.revokeApiKey({ id: key.id }, asAdmin),
  "rotate the key as an operator": async ({ businesses }: Identity, key: Key) =>
    await businesses.updateBusiness({ id: key.businessId, rotateApiKey: true }, asAdmin),
  "rotate the key as the business": async ({ businesses }: Identity, key: Key) =>
    await businesses.updateOwnBusiness({ rotateApiKey: true }, await identity.optionsFor(key.plaintext)),
  "revoke the key as the business": async ({ businesses }: Identity, key: Key) => {
    const otherKey = await identity.apiKeys.createApiKey({ businessId: key.businessId, name: "other" }, asAdmin);
    return await businesses.revokeOwnApiKey({ id: key.id }, await identity.optionsFor(otherKey.apiKey));
  },
  "disable the business": async ({ businesses }: Identity, key: Key) =>
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

describe("removal of access", () => {
  test.each(Object.entries(revocations))(
    "identity responds to a request to %s only after it has committed the change and the longest key lease has ended",
    async (_name, removeAccess) => {
      const steps: string[] = [];
      let key: Key | undefined;
      identity = await startIdentityForTest({
        leaseMs: 500,
        async wait(ms) {
          steps.push(`waits ${ms}`, (await identity.stateOf(key?.plaintext)) === "LIVE" ? "key live" : "key refused");
          await new Promise((resolve) => setImmediate(resolve));
          steps.push("wait ended");
        },
      });
      key = await aKey();
      await removeAccess(identity, key);
      steps.push("responded");
      expect(steps).toEqual(["waits 550", "key refused", "wait ended", "responded"]);
    },
  );

  test("identity responds to a rotation with a grace period only after the longest key lease, because gateways cache the old expiry", async () => {
    const waitsMs: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waitsMs.push(ms) });
    const key = await aKey();
    const request = { rotateApiKey: true, previousKeyTtlSeconds: 1 };
    await identity.businesses.updateOwnBusiness(request, await identity.optionsFor(key.plaintext));
    expect(waitsMs).toEqual([550]);
  });

  test("identity waits for the longest key lease before every response if a request that removes access is repeated", async () => {
    const waitsMs: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waitsMs.push(ms) });
    const { id, businessId } = await aKey();
    const keyedOptions = { ...asAdmin, ...withIdempotencyKey("revoke") };
    const disable = () => identity.businesses.updateBusiness({ id: businessId, status: BusinessStatus.DISABLED }, asAdmin);
    const revoke = () => identity.apiKeys.revokeApiKey({ id }, asAdmin);
    const revokeWithKey = () => identity.apiKeys.revokeApiKey({ id }, keyedOptions);
    for (const sendRequest of [revokeWithKey, revokeWithKey, revoke, disable, disable]) await sendRequest();
    expect(waitsMs).toEqual([550, 550, 550, 550, 550]);
  });

  test("identity responds without a wait for key leases if a request removes no access", async () => {
    const waitsMs: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 500, wait: async (ms) => void waitsMs.push(ms) });
    const { id, apiKey } = await identity.aBusiness();
    await identity.businesses.updateBusiness({ id, name: "x", status: BusinessStatus.ACTIVE }, asAdmin);
    await identity.businesses.updateOwnBusiness({ name: "y" }, await identity.optionsFor(apiKey));
    await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
    const { id: pendingId } = await identity.businesses.createBusiness({ name: "x", status: BusinessStatus.PENDING }, asAdmin);
    await identity.businesses.updateBusiness({ id: pendingId, status: BusinessStatus.ACTIVE }, asAdmin);
    expect(waitsMs).toEqual([]);
  });

  test("an identity replica with KEY_LEASE_MS=0 responds to a revocation only after the longest key lease of other replicas", async () => {
    const waitsMs: number[] = [];
    identity = await startIdentityForTest({ leaseMs: 0, wait: async (ms) => void waitsMs.push(ms) });
    for (const removeAccess of Object.values(revocations)) {
      const key = await aKey();
      await removeAccess(identity, key);
      expect(await identity.stateOf(key.plaintext)).not.toBe("LIVE");
    }
    expect(waitsMs).toEqual(Object.keys(revocations).map(() => 550));
  });
});

/** Simulates a gateway that caches a key for the duration of the lease. */
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

describe("revocation under load", () => {
  test.each(Object.entries(revocations))(
    "four gateways with two identity replicas refuse a key as soon as identity has responded to a request to %s",
    async (_name, removeAccess) => {
      // The replica that removes access grants no leases. The second replica grants leases of 500
      // ms.
      identity = await startIdentityForTest({ leaseMs: 0, wait: sleep });
      const leasingReplica = await identity.addReplica(500);

      for (let round = 0; round < 3; round++) {
        const key = await aKey();
        const gateways = [identity, leasingReplica, identity, leasingReplica].map(aGateway);
        expect(await Promise.all(gateways.map((gateway) => gateway.accepts(key.plaintext)))).toEqual(Array(4).fill(true));
        let hasResponse = false;
        const counts = { afterResponse: 0, wronglyAccepted: 0 };
        const gatewayLoads = gateways.map(async (gateway) => {
          for (let requests = 0; requests < 50; ) {
            const isSentAfterResponse = hasResponse;
            const isAccepted = await gateway.accepts(key.plaintext);
            if (isSentAfterResponse) {
              requests++;
              counts.afterResponse++;
              counts.wronglyAccepted += isAccepted ? 1 : 0;
            }
            // Lets the event loop process the response and timers.
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
        await removeAccess(identity, key);
        hasResponse = true;
        await Promise.all(gatewayLoads);
        expect(counts).toEqual({ afterResponse: 200, wronglyAccepted: 0 });
      }
    },
  );
});
