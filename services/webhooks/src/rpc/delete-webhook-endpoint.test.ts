import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("deleting an endpoint drops its pending deliveries, keeps ended ones and those of others", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/a" }, { caller });
  const other = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/b" }, { caller });
  const [ended, pending] = [aPaymentEvent(caller), aPaymentEvent(caller)];
  await harness.publish(ended, pending);
  await harness.sql("update delivery set status = 'SUCCEEDED', next_attempt_at = null where event_id = ?", [ended.id]);

  await harness.endpoints.deleteWebhookEndpoint({ id }, { caller });
  await expect(harness.endpoints.getWebhookEndpoint({ id }, { caller })).rejects.toMatchObject({ kind: "not_found" });
  const deliveriesOf = async (eventId: string) =>
    (await harness.events.listDeliveries({ eventId, limit: 50, offset: 0 }, { caller })).deliveries;
  expect((await deliveriesOf(ended.id)).map(({ status }) => status)).toEqual([
    DeliveryStatus.SUCCEEDED,
    DeliveryStatus.SUCCEEDED,
  ]);
  expect((await deliveriesOf(pending.id)).map(({ endpointId }) => endpointId)).toEqual([other.id]);
});

test("another business's endpoint, an unknown id, a malformed one and a deleted one are refused alike", async () => {
  const caller = aBusinessCaller();
  const create = () => harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const [kept, deleted] = [await create(), await create()];
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.endpoints.deleteWebhookEndpoint({ id: deleted.id }, { caller });
  const refusals = await Promise.all([
    harness.endpoints.deleteWebhookEndpoint({ id: kept.id }, { caller: aBusinessCaller() }).catch((error: unknown) => error),
    ...[uuidv7(), "nonsense", deleted.id].map((id) =>
      harness.endpoints.deleteWebhookEndpoint({ id }, { caller }).catch((error: unknown) => error),
    ),
  ]);
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  const { deliveries } = await harness.events.listDeliveries({ eventId: event.id, limit: 50, offset: 0 }, { caller });
  expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([kept.id]);
});
