import { eventually } from "@amana/dev-env/eventually";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clearFaults } from "../../src/kyc-harness.ts";
import { readKafka } from "../../src/read-kafka.ts";
import { databaseSettings, runAmana } from "../../src/run-amana.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  callSandbox,
  readProcessorView,
  type TestBusiness,
  type TestSystem,
} from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;

beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system);
});
afterEach(() => clearFaults(testSystem.system));
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

/**
 * Restarts a service so that it kills itself at `faultPoint`. Then runs `action`, waits until the
 * service's process has ended, and starts the service again.
 */
async function killAt(service: "payments" | "webhooks", faultPoint: string, action: () => Promise<unknown>): Promise<void> {
  const { system } = testSystem;
  await system.services[service].stop();
  try {
    await system.services[service].start({ FAULT_POINT: faultPoint });
    await system.waitUntilReady();
    await action();
    await eventually(() => expect(system.services[service].isRunning(), `${service} reached ${faultPoint}`).toBe(false));
  } finally {
    await system.services[service].kill();
    await system.services[service].start();
    await system.waitUntilReady();
  }
}

/** Expects one refund call at the processor, the status REFUNDED, and one event. */
async function expectRefundedOnce(payment: { id: string; orderId: string }): Promise<void> {
  const { call, receiver } = business;
  expect((await call("GET", `/api/v1/payments/${payment.id}`)).body).toMatchObject({
    status: "REFUNDED",
    refunded_amount: "5000.00",
  });
  expect(await readProcessorView(testSystem.system, payment.orderId)).toEqual({ refundedAmount: 500_000, refundCalls: 1 });
  await eventually(() => expect(refundWebhookIds(payment.id).size).toBe(1));
  const events = (await call("GET", "/api/v1/events?type=PAYMENT_REFUNDED&limit=100")).body as unknown as { body: unknown }[];
  const matching = events.filter((event) => JSON.stringify(event).includes(payment.id));
  expect(matching).toHaveLength(1);
  expect(receiver.refused).toEqual([]);
}

const refundWebhookIds = (paymentId: string) =>
  new Set(
    business.receiver.received
      .filter(({ event, body }) => event === "PAYMENT_REFUNDED" && body["payment_id"] === paymentId)
      .map(({ body }) => String(body["id"])),
  );

/**
 * These tests kill the payments service in a complete system. services/payments/test/crash.test.ts
 * tests every fault point of refunds and creations, without the other services.
 */
describe("the payments service killed with SIGKILL", () => {
  test("a refund takes effect once if the payments service is killed before it reads the processor's response, and a retry with the same Idempotency-Key returns the result", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    const key = { "idempotency-key": `refund-${payment.id}` };
    const refund = () => business.call("POST", `/api/v1/payments/${payment.id}/refund`, {}, key);

    await killAt("payments", "refund.answering", async () => {
      const response = await refund();
      expect(response.status, JSON.stringify(response.body)).toBeGreaterThanOrEqual(500);
    });

    const response = await eventually(async () => {
      const repeated = await refund();
      expect(repeated.status, JSON.stringify(repeated.body)).toBe(200);
      return repeated;
    });
    expect(response.headers["idempotent-replayed"]).toBe("true");
    expect(response.body).toMatchObject({ id: payment.id, status: "REFUNDED" });
    expect((await refund()).body).toEqual(response.body);
    await expectRefundedOnce(payment);
  });

  test("POST /payments registers one order if the payments service is killed before it reads the processor's response, and a retry with the same Idempotency-Key returns the payment", async () => {
    const key = { "idempotency-key": `create-${Date.now()}` };
    const create = () => business.call("POST", "/api/v1/payments", { ...anOrder, order_ref: "killed" }, key);
    await killAt("payments", "register.answering", async () => {
      expect((await create()).status).toBeGreaterThanOrEqual(500);
    });
    const created = await eventually(async () => {
      const repeated = await create();
      expect(repeated.status, JSON.stringify(repeated.body)).toBe(201);
      return repeated;
    });
    expect(created.body["form_url"]).toContain(String(created.body["processor_order_id"]));
    const list = await business.call("GET", "/api/v1/payments?order_ref=killed");
    expect(list.headers["x-total-count"]).toBe("1");
  });
});

describe("events when a service or Kafka stops", () => {
  test("the relay publishes an event again, with the same webhook id, if the relay is killed after the publication and before it marks the event as published", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    await killAt("payments", "relay.published", () => business.call("POST", `/api/v1/payments/${payment.id}/refund`));
    await expectRefundedOnce(payment);
  });

  test("the webhooks service stores an event once if the service is killed after its commit and before it stores its Kafka offset", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    await killAt("webhooks", "consumer.committed", () => business.call("POST", `/api/v1/payments/${payment.id}/refund`));
    await expectRefundedOnce(payment);
  });

  test("the webhooks service repeats a POST with the same webhook id if the service is killed after the POST and before it stores the result", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    await killAt("webhooks", "delivery.posted", () => business.call("POST", `/api/v1/payments/${payment.id}/refund`));
    await expectRefundedOnce(payment);
  });

  test("refunds succeed while Kafka is stopped, and every event is delivered after Kafka starts again", async () => {
    const payments = [];
    for (let i = 0; i < 4; i++) payments.push(await aPaidPayment(testSystem.system, business));
    await testSystem.kafka?.stop();
    try {
      for (const payment of payments.slice(0, 3)) {
        expect((await business.call("POST", `/api/v1/payments/${payment.id}/refund`)).status).toBe(200);
      }
    } finally {
      await testSystem.kafka?.start();
    }
    expect((await business.call("POST", `/api/v1/payments/${payments[3]?.id}/refund`)).status).toBe(200);
    for (const payment of payments) {
      await eventually(() => expect(refundWebhookIds(payment.id).size).toBe(1));
      await expectRefundedOnce(payment);
    }
  });
});

/** Deletes a Kafka topic and all its messages. */
async function deleteTopic(topic: string): Promise<void> {
  const kafka = new Kafka({ clientId: "test", brokers: [testSystem.kafka?.brokers ?? ""], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] }).finally(() => admin.disconnect());
}

describe("amana outbox republish after the loss of a topic", () => {
  let since = "";
  /** Payments of the tests in this block. Other payments may still get deliveries meanwhile. */
  const publishedIds: string[] = [];
  beforeAll(() => {
    since = new Date().toISOString();
  });
  const republish = () =>
    runAmana(
      databaseSettings(testSystem.system.databaseUrls),
      ...["outbox", "republish", "--topic", "payments.v1", "--from", since, "--reason", "the topic was lost"],
    );
  /** Returns a text for each event of these payments, with its type and number of deliveries. */
  const countDeliveries = (ids: readonly string[]) => {
    const matching = business.receiver.received.filter(({ body }) => ids.includes(String(body["payment_id"])));
    return [...Map.groupBy(matching, ({ body }) => body["id"]).values()]
      .map((webhooks) => `${webhooks[0]?.event}: ${webhooks.length}`)
      .sort();
  };
  /** Returns the expected result of `countDeliveries` for `count` events of each kind. */
  const expectedDeliveries = (count: number, ...kinds: string[]) =>
    kinds.flatMap((kind) => Array.from({ length: count }, () => `${kind}: 1`)).sort();

  test("`amana outbox republish` after the loss of a topic causes one delivery of each unconsumed event and no second delivery of consumed events", async () => {
    const { system, kafka } = testSystem;
    const consumed = [(await aPaidPayment(system, business)).id];
    await eventually(() => expect(countDeliveries(consumed)).toEqual(expectedDeliveries(1, "PAYMENT_COMPLETED")));
    const lost: string[] = [];
    await system.services.webhooks.stop();
    try {
      for (let i = 0; i < 3; i++) lost.push((await aPaidPayment(system, business)).id);
      for (const id of lost) expect((await business.call("POST", `/api/v1/payments/${id}/refund`)).status).toBe(200);
      await eventually(async () => {
        const published = (await readKafka(kafka?.brokers ?? "")).filter(({ key }) => lost.includes(key));
        expect(published).toHaveLength(6);
      });
      await deleteTopic("payments.v1");
    } finally {
      await system.services.webhooks.start();
      await system.waitUntilReady();
    }
    const newPayment = (await aPaidPayment(system, business)).id;
    await eventually(() => expect(countDeliveries([newPayment])).toEqual(expectedDeliveries(1, "PAYMENT_COMPLETED")));
    expect(countDeliveries(lost)).toEqual([]);

    expect(await republish()).toMatch(/payments +payments\.v1 +8/);
    await eventually(() => expect(countDeliveries(lost)).toEqual(expectedDeliveries(3, "PAYMENT_COMPLETED", "PAYMENT_REFUNDED")));
    expect(countDeliveries([...consumed, newPayment])).toEqual(expectedDeliveries(2, "PAYMENT_COMPLETED"));
    publishedIds.push(...consumed, ...lost, newPayment);
  });

  test("a running Kafka consumer reads the new messages of a topic that was deleted and created again", async () => {
    await deleteTopic("payments.v1");
    const deliveriesBefore = countDeliveries(publishedIds);
    await republish();
    const { id } = await aPaidPayment(testSystem.system, business);
    await eventually(() => expect(countDeliveries([id])).toEqual(expectedDeliveries(1, "PAYMENT_COMPLETED")));
    expect(deliveriesBefore).toHaveLength(8);
    expect(countDeliveries(publishedIds)).toEqual(deliveriesBefore);
  });
});

/** Tests in services/payments/src cover every lost response without the other services. */
describe("lost responses of the processor", () => {
  test.each(["timeout_after"])(
    "a refund with the processor fault %s returns status 504, and the payment later becomes REFUNDED without a second refund call",
    async (mode) => {
      const payment = await aPaidPayment(testSystem.system, business);
      await callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation: "refund", mode, times: 1 });
      const refund = () => business.call("POST", `/api/v1/payments/${payment.id}/refund`);
      expect(await refund()).toMatchObject({ status: 504, body: { code: "refund_outcome_unknown" } });
      const next = await refund();
      expect(next.status).toBe(409);
      expect(["refund_in_progress", "payment_not_refundable"]).toContain(next.body["code"]);
      await eventually(async () => {
        expect((await business.call("GET", `/api/v1/payments/${payment.id}`)).body["status"]).toBe("REFUNDED");
      });
      await expectRefundedOnce(payment);
    },
  );

  test.each(["http_500"])(
    "a refund with the processor fault %s returns status 504, and the payments service later refunds the amount once and emits one event",
    async (mode) => {
      const payment = await aPaidPayment(testSystem.system, business);
      await callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation: "refund", mode, times: 1 });
      expect(await business.call("POST", `/api/v1/payments/${payment.id}/refund`)).toMatchObject({ status: 504 });
      await eventually(async () => {
        expect((await business.call("GET", `/api/v1/payments/${payment.id}`)).body["status"]).toBe("REFUNDED");
      });
      expect((await readProcessorView(testSystem.system, payment.orderId)).refundedAmount).toBe(500_000);
      await eventually(() => expect(refundWebhookIds(payment.id).size).toBe(1));
    },
  );

  test.each(["timeout_after"])(
    "POST /payments creates the payment with the order that the processor registered, even if the registration call fails with %s",
    async (mode) => {
      await callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation: "register", mode, times: 1 });
      const created = await business.call("POST", "/api/v1/payments", anOrder);
      expect(created.status, JSON.stringify(created.body)).toBe(201);
      expect(created.body["form_url"]).toContain(String(created.body["processor_order_id"]));
    },
  );

  test("a refund that the processor rejects returns status 422, leaves the payment PAID and emits no event", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    await callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation: "refund", mode: "error:5", times: 1 });
    const rejected = await business.call("POST", `/api/v1/payments/${payment.id}/refund`);
    expect(rejected).toMatchObject({ status: 422, body: { code: "refund_refused" } });
    expect((await business.call("GET", `/api/v1/payments/${payment.id}`)).body).toMatchObject({
      status: "PAID",
      processor_error_code: "5",
    });
    expect(refundWebhookIds(payment.id).size).toBe(0);
  });
});
