import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { createRpcClient } from "@amana/rpc";
import { emitTo, startTestProcess } from "@amana/service/testing";
import { aBusinessCaller, createTestDatabase, eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "../src/orm.ts";
import { aPaymentEvent } from "./a-payment-event.ts";
import { startReceiver, webhooksSettings } from "./harness.ts";

/** The service as its own process; disposing stops it the way a supervisor does. */
async function startProcess(databaseUrl: string, faultPoint: string) {
  const started = await startTestProcess("webhooks", { DATABASE_URL: databaseUrl, ...webhooksSettings, FAULT_POINT: faultPoint });
  return {
    ...started,
    emitting: await emitTo(started.url),
    endpoints: createRpcClient(WebhookEndpointService, started.channel),
    events: createRpcClient(EventService, started.channel),
  };
}

const page = { limit: 50, offset: 0 };

test("a process killed between the POST and its record sends the same id and bytes again after its restart", async () => {
  await using testDatabase = await createTestDatabase("webhooks", database);
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const event = aPaymentEvent(caller);
  {
    await using crashing = await startProcess(testDatabase.url, "delivery.posted");
    await eventually(() => crashing.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller }));
    await crashing.emitting.publish("payments.v1", [event]).catch(() => {});
    expect(await crashing.exited).toEqual([null, "SIGKILL"]);
    expect(receiver.requests).toHaveLength(1);
  }
  await testDatabase.orm.em.fork().execute("update delivery set leased_until = now()");

  await using restarted = await startProcess(testDatabase.url, "");
  await eventually(() => expect(receiver.requests).toHaveLength(2));
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id]);
  expect(receiver.requests[1]?.body).toEqual(receiver.requests[0]?.body);
  await eventually(async () => {
    const { deliveries } = await restarted.events.listDeliveries({ eventId: event.id, ...page }, { caller });
    expect(deliveries[0]?.attempts.map(({ statusCode }) => statusCode)).toEqual([200]);
  });
});

test("a consumer killed after its commit and handed the message again makes one delivery", async () => {
  await using testDatabase = await createTestDatabase("webhooks", database);
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const event = aPaymentEvent(caller);
  {
    await using crashing = await startProcess(testDatabase.url, "consumer.committed");
    await eventually(() => crashing.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller }));
    await expect(crashing.emitting.publish("payments.v1", [event])).rejects.toThrow();
    expect(await crashing.exited).toEqual([null, "SIGKILL"]);
  }
  // The delivery was born with a lease of the process that died.
  await testDatabase.orm.em.fork().execute("update delivery set leased_until = now() where leased_until > now()");
  await using restarted = await startProcess(testDatabase.url, "");
  await eventually(() => restarted.emitting.publish("payments.v1", [event]));
  await eventually(async () => {
    const { deliveries } = await restarted.events.listDeliveries({ eventId: event.id, ...page }, { caller });
    expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1]);
  });
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id]);
});
