import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { createRpcClient } from "@amana/rpc";
import { createTransportTo, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, createTestDatabase, eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "../src/orm.ts";
import { aPaymentEvent } from "./a-payment-event.ts";
import { addOldEvents, startReceiver, webhooksSettings } from "./harness.ts";

/**
 * Starts the webhooks service as a separate process that kills itself at `faultPoint`. Disposal
 * stops the process with SIGTERM, as a supervisor does.
 */
async function startProcess(databaseUrl: string, faultPoint: string) {
  const started = await startTestProcess("webhooks", { DATABASE_URL: databaseUrl, ...webhooksSettings, FAULT_POINT: faultPoint });
  return {
    ...started,
    emitting: await createTransportTo(started.url),
    endpoints: createRpcClient(WebhookEndpointService, started.channel),
    events: createRpcClient(EventService, started.channel),
  };
}

const page = { limit: 50, offset: 0 };

test("the webhooks service sends the same id and bytes again after a restart if the service was killed between a POST and the recording of its result", async () => {
  await using testDatabase = await createTestDatabase("webhooks", database);
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const event = aPaymentEvent(caller);
  {
    await using crashingProcess = await startProcess(testDatabase.url, "delivery.posted");
    await eventually(() => crashingProcess.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller }));
    await crashingProcess.emitting.publish("payments.v1", [event]).catch(() => {});
    expect(await crashingProcess.exited).toEqual([null, "SIGKILL"]);
    expect(receiver.requests).toHaveLength(1);
  }
  await testDatabase.orm.em.fork().execute("update delivery set leased_until = now()");

  await using restartedProcess = await startProcess(testDatabase.url, "");
  await eventually(() => expect(receiver.requests).toHaveLength(2));
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id]);
  expect(receiver.requests[1]?.body).toEqual(receiver.requests[0]?.body);
  await eventually(async () => {
    const { deliveries } = await restartedProcess.events.listDeliveries({ eventId: event.id, ...page }, { caller });
    expect(deliveries[0]?.attempts.map(({ statusCode }) => statusCode)).toEqual([200]);
  });
});

test("the webhooks service creates no second delivery for a repeated message if the service was killed after it committed the message", async () => {
  await using testDatabase = await createTestDatabase("webhooks", database);
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const event = aPaymentEvent(caller);
  {
    await using crashingProcess = await startProcess(testDatabase.url, "consumer.committed");
    await eventually(() => crashingProcess.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller }));
    await expect(crashingProcess.emitting.publish("payments.v1", [event])).rejects.toThrow();
    expect(await crashingProcess.exited).toEqual([null, "SIGKILL"]);
  }
  // The killed process has a lease of the delivery. Lets this lease expire now.
  await testDatabase.orm.em.fork().execute("update delivery set leased_until = now() where leased_until > now()");
  await using restartedProcess = await startProcess(testDatabase.url, "");
  await eventually(() => restartedProcess.emitting.publish("payments.v1", [event]));
  await eventually(async () => {
    const { deliveries } = await restartedProcess.events.listDeliveries({ eventId: event.id, ...page }, { caller });
    expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1]);
  });
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id]);
});

// With 5100 deliveries, the first replay step only counts. With 300 deliveries, this step restarts
// deliveries.
test.each([
  ["before the commit", "replay.stepped", 5_100],
  ["after the commit", "replay.committed", 300],
])(
  "the webhooks service continues a replay and counts each delivery once if the service was killed three times %s of a replay step",
  async (_, fault, count) => {
    await using testDatabase = await createTestDatabase("webhooks", database);
    await using receiver = await startReceiver();
    const caller = aBusinessCaller();
    const sql = <Row>(text: string, values: unknown[] = []) => testDatabase.orm.em.fork().execute<Row[]>(text, values);
    const expireLeases = async () => {
      for (const table of ["webhook_replay", "delivery"]) {
        await sql(`update ${table} set leased_until = now() where leased_until is not null`);
      }
    };
    let id = "";
    {
      await using crashingProcess = await startProcess(testDatabase.url, fault);
      ({ id } = await eventually(() => crashingProcess.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller })));
      await addOldEvents({ sql }, { caller, id, count, hoursAgo: 1, status: "SKIPPED" });
      // The process may be killed before it responds.
      await crashingProcess.endpoints.replayWebhookEndpoint({ id, sinceMs: 0n }, { caller }).catch(() => {});
      expect(await crashingProcess.exited).toEqual([null, "SIGKILL"]);
    }
    for (let run = 0; run < 2; run++) {
      await expireLeases();
      await using crashingProcess = await startProcess(testDatabase.url, fault);
      expect(await crashingProcess.exited).toEqual([null, "SIGKILL"]);
    }
    await expireLeases();
    const [replay] = await sql<{ id: string; sent: number }>("select id, sent from webhook_replay");
    const started = await sql("select 1 from delivery where status <> 'SKIPPED'");
    expect(replay?.sent).toBe(started.length);
    expect(started.length > 0).toBe(fault === "replay.committed");

    await using restartedProcess = await startProcess(testDatabase.url, "");
    const read = () => restartedProcess.endpoints.getWebhookReplay({ id, replayId: replay?.id ?? "" }, { caller });
    await eventually(async () =>
      expect(await read()).toMatchObject({ status: WebhookReplayStatus.DONE, matched: count, sent: count }),
    );
    await eventually(async () => expect(await sql("select 1 from delivery where status <> 'SUCCEEDED'")).toEqual([]));
    expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(count);
  },
);
