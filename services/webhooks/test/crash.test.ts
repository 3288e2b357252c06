import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { createRpcClient } from "@amana/rpc";
import { emitTo } from "@amana/service/testing";
import {
  aBusinessCaller,
  connectForTest,
  createTestDatabase,
  eventually,
  testEventSettings,
  testRpcSettings,
} from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "../src/orm.ts";
import { aPaymentEvent } from "./a-payment-event.ts";
import { startReceiver, webhooksSettings } from "./harness.ts";

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

/** The service as its own process; disposing stops it the way a supervisor does. */
async function startProcess(databaseUrl: string, faultPoint: string) {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL("../src/main.ts", import.meta.url).pathname], {
    env: {
      RPC_PORT: String(port),
      DATABASE_URL: databaseUrl,
      ...testEventSettings("audit.v1", "payments.v1", "kyc.v1"),
      ...testRpcSettings,
      ...webhooksSettings,
      LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "silent",
      FAULT_POINT: faultPoint,
    },
    stdio: "inherit",
  });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const channel = connectForTest([`http://127.0.0.1:${port}`], "webhooks");
  const emitting = await emitTo(`http://127.0.0.1:${port}`);
  return {
    exited,
    emitting,
    endpoints: createRpcClient(WebhookEndpointService, channel),
    events: createRpcClient(EventService, channel),
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await emitting[Symbol.asyncDispose]();
      child.kill("SIGTERM");
      await exited;
    },
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
  await using restarted = await startProcess(testDatabase.url, "");
  await eventually(() => restarted.emitting.publish("payments.v1", [event]));
  await eventually(async () => {
    const { deliveries } = await restarted.events.listDeliveries({ eventId: event.id, ...page }, { caller });
    expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1]);
  });
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id]);
});
