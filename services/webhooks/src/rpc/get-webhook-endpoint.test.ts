import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness, startReceiver } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("getWebhookEndpoint returns an endpoint without its secret", async () => {
  const caller = aBusinessCaller();
  const created = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const { health, ...read } = await harness.endpoints.getWebhookEndpoint({ id: created.id }, { caller });
  expect(read).toEqual({ ...created, secret: undefined });
  expect(Object.keys(health ?? {})).toEqual(["$typeName"]);
});

test("getWebhookEndpoint returns the endpoint's success rates, last error, and time of the first failure since the last success", async () => {
  await using deliveringHarness = await startHarness();
  const statuses = [200, 503, 200, 500];
  await using receiver = await startReceiver((response, number) => response.writeHead(statuses[number - 1] ?? 500).end());
  const caller = aBusinessCaller();
  const { id } = await deliveringHarness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const health = async () => (await deliveringHarness.endpoints.getWebhookEndpoint({ id }, { caller })).health;
  const deliver = async () => {
    await deliveringHarness.publish(aPaymentEvent(caller));
    await deliveringHarness.waitUntilIdle();
  };

  await deliver();
  await deliver();
  await eventually(async () => expect(await health()).toMatchObject({ successRate1h: 2 / 3, successRate24h: 2 / 3 }));
  expect(await health()).toMatchObject({ lastError: "http_503", p95Ms24h: expect.any(Number) });
  expect(await health()).not.toHaveProperty("failingSinceMs");

  await deliver();
  expect(await health()).toMatchObject({ lastError: "http_500", failingSinceMs: expect.any(BigInt) });
  await receiver[Symbol.asyncDispose]();
  await deliver();
  expect(await health()).toMatchObject({ lastError: "connection_refused" });
});

test("getWebhookEndpoint returns the same error not_found for an unknown id, a malformed id and another business's id", async () => {
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller: aBusinessCaller() });
  const refusals = await Promise.all(
    [id, uuidv7(), "nonsense", ""].map((endpointId) =>
      harness.endpoints.getWebhookEndpoint({ id: endpointId }, { caller: aBusinessCaller() }).catch((error: unknown) => error),
    ),
  );
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
});
