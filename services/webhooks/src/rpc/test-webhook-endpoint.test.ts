import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, withIdempotencyKey } from "@amana/testing";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness, startReceiver } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const page = { limit: 50, offset: 0 };
const idOf = ({ event }: { event?: { id: string } }) => event?.id ?? "";

test("testWebhookEndpoint delivers a signed test event only to the tested endpoint, even if that endpoint subscribes to other event types", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  await using otherReceiver = await startReceiver();
  const filter = { events: ["KYC_COMPLETED"] };
  const endpoint = await harness.endpoints.createWebhookEndpoint({ url: receiver.url, ...filter }, { caller });
  await harness.endpoints.createWebhookEndpoint({ url: otherReceiver.url }, { caller });

  const response = await harness.endpoints.testWebhookEndpoint({ id: endpoint.id }, { caller });
  expect(response).toMatchObject({
    event: { type: "WEBHOOK_TEST" },
    delivery: { endpointId: endpoint.id, status: DeliveryStatus.PENDING, attempts: [] },
  });
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await harness.waitUntilIdle();

  const eventId = idOf(response);
  const [request] = receiver.requests;
  expect([receiver.requests.length, otherReceiver.requests.length]).toEqual([1, 0]);
  expect(request?.headers).toMatchObject({ "x-webhook-event": "WEBHOOK_TEST", "webhook-id": eventId });
  const body = new Webhook(endpoint.secret as string).verify(request?.body as Buffer, request?.headers as never);
  const occurredAt = new Date(Number(response.event?.createdAtMs)).toISOString();
  expect(body).toEqual({ id: eventId, event: "WEBHOOK_TEST", occurred_at: occurredAt, business_id: caller.businessId });
  expect(request?.body.toString()).toBe(response.event?.body);

  const listed = await harness.events.listEvents({ ...page, type: "WEBHOOK_TEST" }, { caller });
  expect(listed).toMatchObject({ events: [response.event], total: 1 });
  const { deliveries } = await harness.events.listDeliveries({ eventId, ...page }, { caller });
  expect(deliveries).toMatchObject([
    { id: response.delivery?.id, status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 200 }] },
  ]);
});

test("testWebhookEndpoint creates one event for two requests with the same Idempotency-Key, and the delivery worker sends the event again after status 500", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver((response, number) => response.writeHead(number === 1 ? 500 : 204).end());
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const first = await harness.endpoints.testWebhookEndpoint({ id }, withIdempotencyKey(caller, "again"));
  await harness.waitUntilIdle();
  const second = await harness.endpoints.testWebhookEndpoint({ id }, withIdempotencyKey(caller, "again"));
  await harness.waitUntilIdle();
  expect(second).toEqual(first);
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([idOf(first), idOf(first)]);
});

test("testWebhookEndpoint rejects a DISABLED endpoint, and returns the same error not_found for an unknown id, a malformed id and another business's id", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const foreign = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller: aBusinessCaller() });
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  const sendTest = (endpointId: string) => harness.endpoints.testWebhookEndpoint({ id: endpointId }, { caller });

  await expect(sendTest(id)).rejects.toMatchObject({ kind: "conflict", code: "webhook_endpoint_disabled" });
  const refusals = await Promise.all(
    [foreign.id, uuidv7(), "x"].map((otherId) => sendTest(otherId).catch((error: unknown) => error)),
  );
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  expect((await harness.events.listEvents(page, { caller })).total).toBe(0);
  expect(receiver.requests).toEqual([]);
});
