import { createHmac } from "node:crypto";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { DeliveryFailure, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { transaction } from "@amana/database";
import { aBusinessCaller, eventually, forAllTenants } from "@amana/testing";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { addOldEvents, type Harness, startHarness, startReceiver } from "../../test/harness.ts";
import { createClaim, release } from "./claim-due-deliveries.ts";
import { ConcurrencyLimits } from "./concurrency-limits.ts";
import { startDelivering } from "./delivery-worker.ts";
import { signatureHeaders } from "./signature.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Claims due deliveries once, as the worker does. By default, no slot is in use. */
const claimOnce = async ({ context }: Harness, limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 64 })) =>
  (await forAllTenants(createClaim({ ...context, limits }))()).claimed;
const dayMs = 24 * 60 * 60 * 1000;
type Caller = ReturnType<typeof aBusinessCaller>;

const create = (url: string, caller: Caller, on = harness) => on.endpoints.createWebhookEndpoint({ url }, { caller });
const deliveriesOf = async (eventId: string, caller: Caller, on = harness) =>
  (await on.events.listDeliveries({ eventId, limit: 50, offset: 0 }, { caller })).deliveries;
const statusOf = async (id: string, caller: Caller) => (await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status;
const respondWith =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end();

/** Publishes an event for a new business with one endpoint. Waits until no delivery is due. */
async function deliverOne(url: string, on = harness) {
  const caller = aBusinessCaller();
  const endpoint = await create(url, caller, on);
  const event = aPaymentEvent(caller);
  await on.publish(event);
  await on.waitUntilIdle();
  const [delivery] = await deliveriesOf(event.id, caller, on);
  if (!delivery) throw new Error("the event has no delivery");
  return { caller, endpoint, event, delivery };
}

/** Returns the time from the last attempt to the next attempt in ms. */
const pauseBeforeNextAttemptMs = ({ delivery }: Awaited<ReturnType<typeof deliverOne>>) =>
  Number(delivery.nextAttemptAtMs) - Number(delivery.attempts.at(-1)?.atMs);

test("the delivery worker sends the stored body by POST with the headers X-Signature and webhook-signature", async () => {
  await using receiver = await startReceiver();
  const { caller, endpoint, event, delivery } = await deliverOne(receiver.url);
  const [request] = receiver.requests;
  const { body } = await harness.events.getEvent({ id: event.id }, { caller });
  expect(receiver.requests).toHaveLength(1);
  expect(request?.body.toString()).toBe(body);
  expect(request?.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": "Amana-Webhooks/1.0",
    "webhook-id": event.id,
    "x-webhook-event": "PAYMENT_REFUNDED",
    "content-length": String(Buffer.byteLength(body)),
  });
  expect(request?.headers["x-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
  const verifier = new Webhook(endpoint.secret as string);
  expect(verifier.verify(body, request?.headers as Record<string, string>)).toMatchObject({ id: event.id });
  expect(delivery).toMatchObject({ status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 200 }] });
});

test("the delivery worker sends an event once if a batch of messages contains the event twice", async () => {
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  await create(receiver.url, caller);
  const event = aPaymentEvent(caller);
  await harness.publish(event, event);
  await harness.waitUntilIdle();
  expect(receiver.requests).toHaveLength(1);
});

test("the delivery worker retries a delivery with the same id and the same bytes until a 2xx response", async () => {
  await using receiver = await startReceiver((response, number) => response.writeHead(number < 4 ? 500 : 204).end());
  const { event, delivery } = await deliverOne(receiver.url);
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual(Array(4).fill(event.id));
  for (const { body } of receiver.requests) expect(body).toEqual(receiver.requests[0]?.body);
  expect(delivery.status).toBe(DeliveryStatus.SUCCEEDED);
  expect(delivery.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 500, 500, 204]);
});

test("the delivery worker sets a delivery to FAILED after eight failed attempts", async () => {
  await using receiver = await startReceiver(respondWith(500));
  const { delivery } = await deliverOne(receiver.url);
  expect(delivery.status).toBe(DeliveryStatus.FAILED);
  expect(delivery.nextAttemptAtMs).toBeUndefined();
  expect(delivery.attempts).toHaveLength(8);
  expect(receiver.requests).toHaveLength(8);
});

test("the delivery worker does not follow a redirect, and counts the redirect as a failed attempt", async () => {
  await using target = await startReceiver();
  await using receiver = await startReceiver(respondWith(302, { location: target.url }));
  const { delivery } = await deliverOne(receiver.url);
  expect(delivery.status).toBe(DeliveryStatus.FAILED);
  expect(target.requests).toHaveLength(0);
});

test("the delivery worker sets a delivery to FAILED and disables its endpoint after a response with status 410, and skips later deliveries", async () => {
  await using receiver = await startReceiver(respondWith(410));
  const { caller, endpoint, delivery } = await deliverOne(receiver.url);
  expect(delivery).toMatchObject({ status: DeliveryStatus.FAILED, attempts: [{ statusCode: 410 }] });
  expect(await statusOf(endpoint.id, caller)).toBe(WebhookEndpointStatus.DISABLED);

  const laterEvent = aPaymentEvent(caller);
  await harness.publish(laterEvent);
  await harness.waitUntilIdle();
  expect(await deliveriesOf(laterEvent.id, caller)).toMatchObject([{ status: DeliveryStatus.SKIPPED, attempts: [] }]);
  expect(receiver.requests).toHaveLength(1);
});

test("the delivery worker keeps an endpoint ACTIVE after status 410 from its previous URL, and sends the delivery to its current URL", async () => {
  await using singleAttemptHarness = await startHarness({ deliver: { pausesMs: [] } });
  await using currentReceiver = await startReceiver();
  const caller = aBusinessCaller();
  let endpointId = "";
  await using previousReceiver = await startReceiver(async (response) => {
    await singleAttemptHarness.endpoints.updateWebhookEndpoint({ id: endpointId, url: currentReceiver.url }, { caller });
    response.writeHead(410).end();
  });
  const endpoint = await create(previousReceiver.url, caller, singleAttemptHarness);
  endpointId = endpoint.id;
  const event = aPaymentEvent(caller);
  await singleAttemptHarness.publish(event);
  await singleAttemptHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, singleAttemptHarness)).toMatchObject([
    { status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 410 }, { statusCode: 200 }] },
  ]);
  const { status } = await singleAttemptHarness.endpoints.getWebhookEndpoint({ id: endpoint.id }, { caller });
  expect(status).toBe(WebhookEndpointStatus.ACTIVE);
  expect([previousReceiver.requests.length, currentReceiver.requests.length]).toEqual([1, 1]);
});

test.each([
  ["was inserted with a lease", false],
  ["was claimed", true],
])(
  "the delivery worker keeps an endpoint ACTIVE after status 410 if the business has enabled the endpoint since the attempt began, and repeats the attempt (delivery that %s)",
  async (_name, isClaimed) => {
    await using idleHarness = await startHarness({ deliver: false });
    let sendLateResponse = () => {};
    await using receiver = await startReceiver((response, number) => {
      if (number === 1) sendLateResponse = () => response.writeHead(410).end();
      else response.writeHead(number === 2 ? 410 : 200).end();
    });
    const caller = aBusinessCaller();
    const { id, url } = await create(receiver.url, caller, idleHarness);
    const [lateEvent, earlyEvent] = [aPaymentEvent(caller), aPaymentEvent(caller)];
    if (isClaimed) await idleHarness.publish(lateEvent);
    await using _worker = startDelivering(idleHarness.context);
    if (!isClaimed) await idleHarness.publish(lateEvent);
    await eventually(() => expect(receiver.requests).toHaveLength(1));
    await idleHarness.publish(earlyEvent);
    const expectedDelivery = { status: DeliveryStatus.FAILED, attempts: [{ statusCode: 410 }] };
    await eventually(async () =>
      expect(await deliveriesOf(earlyEvent.id, caller, idleHarness)).toMatchObject([expectedDelivery]),
    );
    const enable = { id, url, status: WebhookEndpointStatus.ACTIVE };
    expect((await idleHarness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.DISABLED);
    await idleHarness.endpoints.updateWebhookEndpoint(enable, { caller });

    sendLateResponse();
    await idleHarness.waitUntilIdle();
    expect(await deliveriesOf(lateEvent.id, caller, idleHarness)).toMatchObject([
      { status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 410 }, { statusCode: 200 }] },
    ]);
    expect(await idleHarness.sql("select attempts from delivery where event_id = ?", [lateEvent.id])).toEqual([{ attempts: 1 }]);
    expect(await idleHarness.endpoints.getWebhookEndpoint({ id }, { caller })).toMatchObject(enable);
    expect(receiver.requests).toHaveLength(3);
  },
);

test("the delivery worker disables an endpoint after status 410 even if another attempt has changed the endpoint's health meanwhile", async () => {
  await using singleAttemptHarness = await startHarness({ deliver: { pausesMs: [] } });
  let sendLateResponse = () => {};
  await using receiver = await startReceiver((response, number) => {
    if (number === 1) sendLateResponse = () => response.writeHead(410).end();
    else response.writeHead(500).end();
  });
  const caller = aBusinessCaller();
  const { id } = await create(receiver.url, caller, singleAttemptHarness);
  const readEndpoint = () => singleAttemptHarness.endpoints.getWebhookEndpoint({ id }, { caller });
  await singleAttemptHarness.publish(aPaymentEvent(caller));
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await singleAttemptHarness.publish(aPaymentEvent(caller));
  await eventually(async () => expect(await readEndpoint()).toMatchObject({ health: { lastError: "http_500" } }));
  sendLateResponse();
  await singleAttemptHarness.waitUntilIdle();
  expect((await readEndpoint()).status).toBe(WebhookEndpointStatus.DISABLED);
});

test("the delivery worker sets a delivery to SKIPPED if it becomes due while its endpoint is DISABLED, and sends the delivery after a call of redeliverEvent", async () => {
  await using slowHarness = await startHarness({ deliver: { pausesMs: [60_000] } });
  await using receiver = await startReceiver((response, number) => response.writeHead(number === 1 ? 500 : 200).end());
  const { caller, endpoint, event } = await deliverOne(receiver.url, slowHarness);
  const switchTo = (status: WebhookEndpointStatus) =>
    slowHarness.endpoints.updateWebhookEndpoint({ id: endpoint.id, status }, { caller });
  await switchTo(WebhookEndpointStatus.DISABLED);
  await slowHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, slowHarness)).toMatchObject([{ status: DeliveryStatus.PENDING }]);

  await slowHarness.sql("update delivery set next_attempt_at = now()");
  await slowHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, slowHarness)).toMatchObject([
    { status: DeliveryStatus.SKIPPED, attempts: [{ statusCode: 500 }] },
  ]);
  expect(receiver.requests).toHaveLength(1);

  await switchTo(WebhookEndpointStatus.ACTIVE);
  await slowHarness.events.redeliverEvent({ eventId: event.id }, { caller });
  await slowHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, slowHarness)).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]);
});

test("the claim function sets all due deliveries to a DISABLED endpoint to SKIPPED, and claims due deliveries to other endpoints", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const disabled = await create("http://127.0.0.1:9/", caller, idleHarness);
  await idleHarness.publish(...Array.from({ length: 20 }, () => aPaymentEvent(caller)));
  await idleHarness.endpoints.updateWebhookEndpoint({ id: disabled.id, status: WebhookEndpointStatus.DISABLED }, { caller });
  const { id } = await create("http://127.0.0.1:9/", caller, idleHarness);
  await idleHarness.publish(aPaymentEvent(caller));
  const claimed = await claimOnce(idleHarness, new ConcurrencyLimits({ total: 2, perBusiness: 2, perEndpoint: 2 }));
  expect(claimed.map(({ endpoint_id }) => endpoint_id)).toEqual([id]);
  const skipped = await idleHarness.sql("select id from delivery where status = 'SKIPPED' and next_attempt_at is null");
  // The 20 deliveries of the first batch, and the delivery of the last event to the DISABLED
  // endpoint.
  expect(skipped).toHaveLength(21);
});

test("the claim function keeps due deliveries PENDING if their endpoint is enabled after the claim has read the endpoint as DISABLED", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const { orm, sql } = idleHarness;
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:9/", caller, idleHarness);
  await idleHarness.publish(aPaymentEvent(caller));
  const switchTo = (status: WebhookEndpointStatus) => idleHarness.endpoints.updateWebhookEndpoint({ id, status }, { caller });
  await switchTo(WebhookEndpointStatus.DISABLED);

  const claims = await forAllTenants(() =>
    transaction(orm, async (em) => {
      // The claim can read deliveries, but its update of deliveries waits for this lock.
      await em.execute("lock table delivery in exclusive mode");
      const claim = claimOnce(idleHarness);
      await eventually(async () =>
        expect(
          await sql("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
        ).toHaveLength(1),
      );
      await switchTo(WebhookEndpointStatus.ACTIVE);
      const due = { caller, id, count: 1, hoursAgo: 0, status: "PENDING" };
      await addOldEvents({ sql: (query, values) => em.execute(query, values) }, due);
      // Before its commit, the transaction waits for a returned promise, but not for a promise in
      // an array.
      return [claim];
    }),
  )();
  await Promise.all(claims);
  expect(await sql("select status from delivery")).toEqual([{ status: "PENDING" }, { status: "PENDING" }]);
  expect(await claimOnce(idleHarness)).toHaveLength(2);
});

test("the delivery worker plans the next attempt by the retry schedule, or by a longer Retry-After (at most a day) of a 429 or 503 response", async () => {
  await using slowHarness = await startHarness({ deliver: { pausesMs: [60_000] } });
  const pauseAfter = async (status: number, retryAfter: string) => {
    await using receiver = await startReceiver(respondWith(status, { "retry-after": retryAfter }));
    return pauseBeforeNextAttemptMs(await deliverOne(receiver.url, slowHarness));
  };
  const slackMs = 5_000;
  for (const [status, retryAfter, fromMs, toMs] of [
    [500, "600", 48_000, 72_000],
    [429, "10", 48_000, 72_000],
    [429, "600", 600_000, 600_000],
    [503, new Date(Date.now() + 900_000).toUTCString(), 890_000, 900_000],
    [503, "99999999", dayMs, dayMs],
  ] as const) {
    const waitMs = await pauseAfter(status, retryAfter);
    expect(waitMs).toBeGreaterThanOrEqual(fromMs);
    expect(waitMs).toBeLessThanOrEqual(toMs + slackMs);
  }
});

test("the delivery worker retries a delivery when it is due, even without the signal `due`", async () => {
  await using timedHarness = await startHarness({ deliver: { pausesMs: [150] } });
  await using receiver = await startReceiver((response, number) => response.writeHead(number === 1 ? 500 : 200).end());
  await deliverOne(receiver.url, timedHarness);
  // Without the plan for due deliveries, the worker would claim the delivery after 60 s.
  await eventually(() => expect(receiver.requests).toHaveLength(2), 30_000);
});

test("the delivery worker, after a secret rotation, signs webhook-signature with both secrets until the previous secret expires", async () => {
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const created = await create(receiver.url, caller);
  const rotated = await harness.endpoints.updateWebhookEndpoint({ id: created.id, rotateSecret: true }, { caller });
  const [during, after] = [aPaymentEvent(caller), aPaymentEvent(caller)];
  await harness.publish(during);
  await harness.waitUntilIdle();
  await harness.sql("update webhook_endpoint set previous_secret_until = now() where id = ?", [created.id]);
  await harness.publish(after);
  await harness.waitUntilIdle();

  const [first, second] = receiver.requests.map(({ body, headers }) => ({ body, headers: headers as Record<string, string> }));
  if (!first || !second) throw new Error("two deliveries were expected");
  const verify = (secret: string | undefined, request: typeof first) =>
    new Webhook(secret as string).verify(request.body.toString(), request.headers);
  expect(verify(rotated.secret, first)).toMatchObject({ id: during.id });
  expect(verify(created.secret, first)).toMatchObject({ id: during.id });
  expect(first.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  expect(verify(rotated.secret, second)).toMatchObject({ id: after.id });
  expect(() => verify(created.secret, second)).toThrow();
});

test("the delivery worker signs X-Signature with the previous secret and webhook-signature with both secrets until a new secret becomes active", async () => {
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const { id, secret: old } = await create(receiver.url, caller);
  const rotate = async (activateInSeconds: number) =>
    (await harness.endpoints.updateWebhookEndpoint({ id, rotateSecret: true, activateInSeconds }, { caller })).secret;
  const activate = () => harness.sql("update webhook_endpoint set secret_active_from = now() where id = ?", [id]);
  /**
   * Delivers an event and compares its signatures with those of the secrets `candidates`. Returns
   * the index of the secret that signed X-Signature. Also returns, for each secret, whether
   * webhook-signature contains a signature with that secret.
   */
  const signedWith = async (...candidates: (string | undefined)[]) => {
    await harness.publish(aPaymentEvent(caller));
    await harness.waitUntilIdle();
    const { body, headers } = receiver.requests.at(-1) as (typeof receiver.requests)[number];
    const [timestamp, sent] = [headers["webhook-timestamp"], String(headers["webhook-signature"]).split(" ")];
    const expected = candidates.map((current) =>
      signatureHeaders(String(headers["webhook-id"]), Number(timestamp), body, { current: String(current), other: undefined }),
    );
    return [
      expected.findIndex((signatures) => signatures["x-signature"] === headers["x-signature"]),
      expected.map((signatures) => sent.includes(signatures["webhook-signature"])),
    ];
  };

  const first = await rotate(3_600);
  expect(await signedWith(old, first)).toEqual([0, [true, true]]);
  await activate();
  expect(await signedWith(old, first)).toEqual([1, [true, true]]);

  const second = await rotate(86_400);
  expect(await signedWith(old, first, second)).toEqual([1, [false, true, true]]);
  // The second secret was replaced before it became active, so X-Signature still uses the first
  // secret.
  const third = await rotate(3_600);
  expect(await signedWith(old, first, second, third)).toEqual([1, [false, true, false, true]]);
  const fourth = await rotate(0);
  expect(await signedWith(old, first, second, third, fourth)).toEqual([4, [false, true, false, false, true]]);
});

test("the delivery worker signs a retry with the secret that is active at the time of the retry", async () => {
  await using slowHarness = await startHarness({ deliver: { pausesMs: [60_000] } });
  await using receiver = await startReceiver((response, number) => response.writeHead(number === 1 ? 500 : 200).end());
  const { caller, endpoint, event } = await deliverOne(receiver.url, slowHarness);
  const { id } = endpoint;
  const { secret } = await slowHarness.endpoints.updateWebhookEndpoint(
    { id, rotateSecret: true, activateInSeconds: 3_600 },
    { caller },
  );
  const retry = async () => {
    await slowHarness.events.redeliverEvent({ eventId: event.id }, { caller });
    await slowHarness.waitUntilIdle();
    return receiver.requests.at(-1)?.headers["x-signature"];
  };
  const keyedWith = (key: string | undefined) =>
    `sha256=${createHmac("sha256", String(key))
      .update(receiver.requests[0]?.body as Buffer)
      .digest("hex")}`;
  expect(await retry()).toBe(keyedWith(endpoint.secret));
  await slowHarness.sql("update webhook_endpoint set secret_active_from = now() where id = ?", [id]);
  expect(await retry()).toBe(keyedWith(secret));
});

test("the delivery worker signs a delivery with only the current secret if the previous secret cannot be decrypted", async () => {
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const { id } = await create(receiver.url, caller);
  const { secret } = await harness.endpoints.updateWebhookEndpoint({ id, rotateSecret: true }, { caller });
  await harness.sql("update webhook_endpoint set previous_secret_ciphertext = 'k0:AAAA' where id = ?", [id]);
  await harness.publish(aPaymentEvent(caller));
  await harness.waitUntilIdle();
  const [request] = receiver.requests;
  const headers = request?.headers as Record<string, string>;
  expect(headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  expect(() => new Webhook(secret as string).verify(request?.body.toString() ?? "", headers)).not.toThrow();
});

test("the delivery worker retries a delivery while the endpoint's secret cannot be decrypted, and sends the delivery when the secret is readable again", async () => {
  await using slowHarness = await startHarness({ deliver: { pausesMs: [60_000] } });
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const { id } = await create(receiver.url, caller, slowHarness);
  const [original] = await slowHarness.sql<{ secret: string }>(
    "select secret_ciphertext as secret from webhook_endpoint where id = ?",
    [id],
  );
  await slowHarness.sql("update webhook_endpoint set secret_ciphertext = 'k0:AAAA' where id = ?", [id]);
  const event = aPaymentEvent(caller);
  await slowHarness.publish(event);
  await slowHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, slowHarness)).toMatchObject([
    { status: DeliveryStatus.PENDING, attempts: [{ failure: DeliveryFailure.SECRET_UNREADABLE }] },
  ]);
  await slowHarness.sql("update webhook_endpoint set secret_ciphertext = ? where id = ?", [original?.secret, id]);
  await slowHarness.sql("update delivery set next_attempt_at = now()");
  await slowHarness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller, slowHarness)).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]);
});

test("the delivery worker uses only two slots for an unresponsive endpoint, and meanwhile sends deliveries to another endpoint", async () => {
  await using fairHarness = await startHarness({ deliver: { total: 4, perEndpoint: 2, timeoutMs: 60_000 } });
  await using hangingReceiver = await startReceiver(() => {});
  await using healthyReceiver = await startReceiver();
  const caller = aBusinessCaller();
  await create(hangingReceiver.url, caller, fairHarness);
  await create(healthyReceiver.url, caller, fairHarness);
  const events = Array.from({ length: 20 }, () => aPaymentEvent(caller));
  await fairHarness.publish(...events);
  await eventually(() => expect(healthyReceiver.requests).toHaveLength(20));
  expect(hangingReceiver.requests).toHaveLength(2);
  await fairHarness.sql("delete from delivery");
  await hangingReceiver[Symbol.asyncDispose]();
});

test("the delivery worker uses only six slots for a business with unresponsive endpoints, and meanwhile sends another business's deliveries", async () => {
  const shares = { total: 8, perBusiness: 6, perEndpoint: 2 };
  await using fairHarness = await startHarness({ deliver: { ...shares, timeoutMs: 60_000 } });
  await using hangingReceiver = await startReceiver(() => {});
  await using healthyReceiver = await startReceiver();
  const [slowCaller, otherCaller] = [aBusinessCaller(), aBusinessCaller()];
  for (let i = 0; i < 8; i++) await create(hangingReceiver.url, slowCaller, fairHarness);
  await create(healthyReceiver.url, otherCaller, fairHarness);
  await fairHarness.publish(...Array.from({ length: 10 }, () => aPaymentEvent(slowCaller)));
  await eventually(() => expect(hangingReceiver.requests).toHaveLength(6));
  await fairHarness.publish(...Array.from({ length: 20 }, () => aPaymentEvent(otherCaller)));
  await eventually(() => expect(healthyReceiver.requests).toHaveLength(20));
  expect(hangingReceiver.requests).toHaveLength(6);
  await fairHarness.sql("delete from delivery");
  await hangingReceiver[Symbol.asyncDispose]();
});

test("the delivery worker sends at most two concurrent attempts to an endpoint that timed out, until the endpoint responds within the timeout", async () => {
  // Slow endpoints together get an eighth of these slots (16), which is more than the two slots of
  // one slow endpoint.
  const shares = { total: 128, perBusiness: 128, perEndpoint: 16 };
  await using fairHarness = await startHarness({ deliver: { ...shares, timeoutMs: 2000, pausesMs: [60_000] } });
  const inFlight = new Set<ServerResponse>();
  let mostInFlight = 0;
  // The receiver responds to all requests in flight when it has this number of them. If undefined,
  // it never responds.
  let respondsAt: number | undefined;
  await using receiver = await startReceiver((response) => {
    inFlight.add(response);
    response.once("close", () => inFlight.delete(response));
    mostInFlight = Math.max(mostInFlight, inFlight.size);
    if (respondsAt !== undefined && inFlight.size >= respondsAt) for (const each of inFlight) each.end();
  });
  const caller = aBusinessCaller();
  await create(receiver.url, caller, fairHarness);
  const publish = async (count: number) => {
    mostInFlight = 0;
    await fairHarness.publish(...Array.from({ length: count }, () => aPaymentEvent(caller)));
    await fairHarness.waitUntilIdle();
    return mostInFlight;
  };
  respondsAt = 16;
  expect(await publish(16)).toBe(16);
  respondsAt = undefined;
  expect(await publish(16)).toBe(16);
  // An aborted connection may still be closing when the next connection opens.
  expect(await publish(6)).toBeLessThanOrEqual(4);
  expect(await fairHarness.sql("select slow from webhook_endpoint")).toEqual([{ slow: true }]);
  respondsAt = 1;
  await publish(4);
  expect(await fairHarness.sql("select slow from webhook_endpoint")).toEqual([{ slow: false }]);
});

test.each([
  ["opens the circuit breaker of an endpoint that refuses the connection", true, false],
  ["keeps the circuit breaker closed for an endpoint that responds with status 500", false, true],
])("the delivery worker %s", async (_behavior, slow, isListening) => {
  await using singleHarness = await startHarness({ deliver: { pausesMs: [60_000] } });
  await using receiver = await startReceiver(respondWith(500));
  if (!isListening) await receiver[Symbol.asyncDispose]();
  const { delivery } = await deliverOne(receiver.url, singleHarness);
  expect(delivery.attempts).toHaveLength(1);
  expect(await singleHarness.sql("select slow from webhook_endpoint")).toEqual([{ slow }]);
});

test("the claim function claims no more deliveries than the limits for businesses, endpoints and slow endpoints allow", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const [busyCaller, otherCaller, slow] = [aBusinessCaller(), aBusinessCaller(), aBusinessCaller()];
  for (let i = 0; i < 4; i++) await create("http://127.0.0.1:9/", busyCaller, idleHarness);
  await create("http://127.0.0.1:9/", otherCaller, idleHarness);
  for (let i = 0; i < 8; i++) await create("http://127.0.0.1:9/", slow, idleHarness);
  await idleHarness.sql("update webhook_endpoint set slow = true where business_id = ?", [slow.businessId]);
  for (const caller of [slow, busyCaller, otherCaller])
    await idleHarness.publish(...Array.from({ length: 10 }, () => aPaymentEvent(caller)));

  const limits = new ConcurrencyLimits({ total: 20, perBusiness: 16, perEndpoint: 8 });
  const claimed = await claimOnce(idleHarness, limits);
  const claimedBy = (caller: Caller) => claimed.filter(({ business_id }) => business_id === caller.businessId);
  // The single endpoint of `otherCaller` gets 8 slots, and `busyCaller` gets the remaining 12
  // slots. The slow business gets 2 slots, an eighth of its 16 slots.
  expect([claimedBy(slow), claimedBy(otherCaller), claimedBy(busyCaller)].map(({ length }) => length)).toEqual([2, 8, 12]);
  expect(claimed.filter((delivery) => delivery.slow)).toEqual(claimedBy(slow));

  for (const { business_id, endpoint_id, slow: isSlow } of claimed) {
    (isSlow ? limits.slow : limits.healthy).acquire(business_id, 0, endpoint_id);
  }
  expect(await claimOnce(idleHarness, limits)).toEqual([]);
  for (const { business_id, endpoint_id } of claimedBy(otherCaller).slice(0, 3)) limits.healthy.release(business_id, endpoint_id);
  // Now `busyCaller` uses 12 slots and `otherCaller` uses 5. The business that uses fewer slots is
  // served first.
  const nextClaimed = await claimOnce(idleHarness, limits);
  expect(nextClaimed.map(({ business_id }) => business_id)).toEqual(
    expect.arrayContaining([otherCaller.businessId, otherCaller.businessId]),
  );
  expect(nextClaimed).toHaveLength(3);
});

test("the claim function first claims up to eight deliveries to slow endpoints if more than 64 deliveries to healthy endpoints are due", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const [busyCaller, slowCaller] = [aBusinessCaller(), aBusinessCaller()];
  const limits = new ConcurrencyLimits({ total: 1024, perBusiness: 256, perEndpoint: 32 });
  const addDue = (caller: Caller, id: string, count: number) =>
    addOldEvents(idleHarness, { caller, id, count, hoursAgo: 1, status: "PENDING" });
  for (let i = 0; i < 4; i++) await addDue(busyCaller, (await create("http://127.0.0.1:9/", busyCaller, idleHarness)).id, 100);
  const claimAndFinish = async () => {
    const claimed = await claimOnce(idleHarness, limits);
    for (const { id } of claimed) {
      await idleHarness.sql(
        "update delivery set status = 'SUCCEEDED', next_attempt_at = null, lease_token = null, leased_until = null where id = ?",
        [id],
      );
    }
    return [claimed.filter(({ slow }) => slow).length, claimed.length];
  };
  expect(await claimAndFinish()).toEqual([0, 64]);

  const slowEndpoints = [];
  for (let i = 0; i < 6; i++) slowEndpoints.push(await create("http://127.0.0.1:9/", slowCaller, idleHarness));
  await idleHarness.sql("update webhook_endpoint set slow = true where business_id = ?", [slowCaller.businessId]);
  for (const [index, { id }] of slowEndpoints.entries()) await addDue(slowCaller, id, index === 0 ? 1 : 2);
  expect([await claimAndFinish(), await claimAndFinish(), await claimAndFinish()]).toEqual([
    [8, 64],
    [3, 64],
    [0, 64],
  ]);
});

test("the claim function releases the claimed deliveries to slow endpoints if the claim for healthy endpoints fails", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:9/", caller, idleHarness);
  await idleHarness.sql("update webhook_endpoint set slow = true");
  await addOldEvents(idleHarness, { caller, id, count: 2, hoursAgo: 1, status: "PENDING" });
  const limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 64 });
  vi.spyOn(limits.healthy, "usedAndQueued").mockImplementationOnce(() => {
    throw new Error("the claim fails");
  });
  await expect(claimOnce(idleHarness, limits)).rejects.toThrow("the claim fails");
  expect(await claimOnce(idleHarness, limits)).toHaveLength(2);
});

test("the claim function returns true as isMore if it has claimed the maximum number of deliveries to slow endpoints", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const limits = new ConcurrencyLimits({ total: 1024, perBusiness: 256, perEndpoint: 32 });
  const claim = forAllTenants(createClaim({ ...idleHarness.context, limits }));
  const callers = [aBusinessCaller(), aBusinessCaller()];
  for (const caller of callers) {
    for (let i = 0; i < 3; i++) {
      const { id } = await create("http://127.0.0.1:9/", caller, idleHarness);
      await addOldEvents(idleHarness, { caller, id, count: 2, hoursAgo: 1, status: "PENDING" });
    }
  }
  await idleHarness.sql("update webhook_endpoint set slow = true");
  expect(await claim()).toMatchObject({ claimed: { length: 8 }, isMore: true });
  expect(await claim()).toMatchObject({ claimed: { length: 4 }, isMore: false });
});

test("the claim function reads fewer than 700 rows of the delivery table if an endpoint without free slots has 20000 due deliveries", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const [busyCaller, otherCaller] = [aBusinessCaller(), aBusinessCaller()];
  const { id: endpointId } = await create("http://127.0.0.1:9/", busyCaller, idleHarness);
  await create("http://127.0.0.1:9/", otherCaller, idleHarness);
  await idleHarness.publish(aPaymentEvent(busyCaller));
  await idleHarness.sql(
    `insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), ?, uuidv7(), ?, 'PENDING', now() - interval '1 hour' from generate_series(1, 20000)`,
    [busyCaller.businessId, endpointId],
  );
  await idleHarness.publish(aPaymentEvent(otherCaller));
  await idleHarness.sql("analyze delivery");
  const limits = new ConcurrencyLimits({ total: 8, perBusiness: 2, perEndpoint: 2 });
  for (let i = 0; i < 2; i++) limits.healthy.acquire(busyCaller.businessId, 0, endpointId);

  const readBefore = await countReadRows(idleHarness);
  const claimed = await claimOnce(idleHarness, limits);
  expect(claimed.map(({ business_id }) => business_id)).toEqual([otherCaller.businessId]);
  // The search reads the 500 oldest rows, and one row for each endpoint.
  expect((await countReadRows(idleHarness)) - readBefore).toBeLessThan(700);
});

test("the claim function reads fewer than 30 rows of the delivery table if one delivery is due and 5000 are due later", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const busyCaller = aBusinessCaller();
  await create("http://127.0.0.1:9/", busyCaller, idleHarness);
  await idleHarness.publish(aPaymentEvent(busyCaller));
  await idleHarness.sql(
    `insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), uuidv7(), uuidv7(), uuidv7(), 'PENDING', now() + interval '1 hour' from generate_series(1, 5000)`,
  );
  await idleHarness.sql("analyze delivery");

  const readBefore = await countReadRows(idleHarness);
  const claimed = await claimOnce(idleHarness);
  expect(claimed.map(({ business_id }) => business_id)).toEqual([busyCaller.businessId]);
  expect((await countReadRows(idleHarness)) - readBefore).toBeLessThan(30);
});

test.each([3, 30, 600])(
  "the claim function reads fewer than 3000 rows of the delivery table when 50000 deliveries are due, even if PostgreSQL planned the claim while %d deliveries were due",
  async (plannedCount) => {
    await using idleHarness = await startHarness({ deliver: false });
    const { sql } = idleHarness;
    const [busyCaller, otherCaller, disabledCaller] = [aBusinessCaller(), aBusinessCaller(), aBusinessCaller()];
    const busyEndpoints = [];
    for (let i = 0; i < 10; i++) busyEndpoints.push(await create("http://127.0.0.1:9/", busyCaller, idleHarness));
    const other = await create("http://127.0.0.1:9/", otherCaller, idleHarness);
    const disabled = await create("http://127.0.0.1:9/", disabledCaller, idleHarness);
    await sql("update webhook_endpoint set status = 'DISABLED' where id = ?", [disabled.id]);
    const addDue = (caller: Caller, id: string, count: number) =>
      addOldEvents(idleHarness, { caller, id, count, hoursAgo: 1, status: "PENDING" });

    // Otherwise autovacuum could analyze the table, and PostgreSQL would replace the plans of the
    // first claims.
    await sql("alter table delivery set (autovacuum_enabled = off)");
    await sql(
      `insert into delivery (id, business_id, event_id, endpoint_id, status)
       select uuidv7(), uuidv7(), uuidv7(), uuidv7(), 'SUCCEEDED' from generate_series(1, 20000)`,
    );
    await addDue(otherCaller, other.id, plannedCount);
    await addDue(disabledCaller, disabled.id, 1);
    await sql("analyze delivery");
    const claimAndRelease = async () => {
      await addDue(disabledCaller, disabled.id, 1);
      const claimed = await claimOnce(idleHarness);
      await forAllTenants(() => release(idleHarness.orm, claimed))();
      return claimed;
    };
    // From the sixth execution on, PostgreSQL may use one plan for all values.
    for (let i = 0; i < 8; i++) expect(await claimAndRelease()).toHaveLength(Math.min(plannedCount, 64));

    for (const { id } of busyEndpoints) await addDue(busyCaller, id, 5_000);
    await addDue(disabledCaller, disabled.id, 1);
    const readBefore = await countReads(idleHarness);
    const claimed = await claimOnce(idleHarness);
    const read = await countReads(idleHarness);
    expect(claimed).toHaveLength(64);
    expect(read.rows - readBefore.rows).toBeLessThan(3_000);
    expect(read.indexEntries - readBefore.indexEntries).toBeLessThan(3_000);
    expect(await sql("select 1 from delivery where status = 'SKIPPED'")).toHaveLength(10);
  },
);

test("the release of 64 leases reads fewer than 200 rows of the delivery table if PostgreSQL planned the release while the table had 3 rows", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:9/", caller, idleHarness);
  const addDue = (count: number) => addOldEvents(idleHarness, { caller, id, count, hoursAgo: 1, status: "PENDING" });
  await idleHarness.sql("alter table delivery set (autovacuum_enabled = off)");
  await addDue(3);
  await idleHarness.sql("analyze delivery");
  for (let i = 0; i < 8; i++) {
    const claimed = await claimOnce(idleHarness);
    await forAllTenants(() => release(idleHarness.orm, claimed))();
  }
  await addDue(20_000);
  const claimed = await claimOnce(idleHarness);
  expect(claimed).toHaveLength(64);
  const readBefore = await countReads(idleHarness);
  await forAllTenants(() => release(idleHarness.orm, claimed))();
  const read = await countReads(idleHarness);
  expect(read.rows - readBefore.rows).toBeLessThan(200);
  expect(read.indexEntries - readBefore.indexEntries).toBeLessThan(200);
});

/** Returns the number of rows that all statements together have read from the table `delivery`. */
const countReadRows = async (idleHarness: Harness) => (await countReads(idleHarness)).rows;

/**
 * Returns the numbers of rows and of index entries that all statements together have read from the
 * table `delivery`.
 */
async function countReads({ orm, sql }: Harness): Promise<{ rows: number; indexEntries: number }> {
  // Both connections must publish their counts: the claim uses a connection of the service, and
  // `sql` uses a connection of the owner.
  await forAllTenants(() => orm.em.fork().execute("select pg_stat_force_next_flush()"))();
  await sql("select pg_stat_force_next_flush()");
  const [row] = await sql<{ rows: string; entries: string }>(
    `select seq_tup_read + idx_tup_fetch as rows, (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as entries
     from pg_stat_user_tables t where relname = 'delivery'`,
  );
  return { rows: Number(row?.rows), indexEntries: Number(row?.entries) };
}

test("two delivery workers on one database together send each delivery once", async () => {
  await using receiver = await startReceiver();
  const limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 8 });
  const signals: typeof harness.context.signals = new EventEmitter();
  await using _second = startDelivering({ ...harness.context, limits, signals });
  const caller = aBusinessCaller();
  await create(receiver.url, caller);
  const batches = Array.from({ length: 15 }, () => Array.from({ length: 10 }, () => aPaymentEvent(caller)));
  await Promise.all(
    batches.map(async (batch) => {
      await harness.publish(...batch);
      signals.emit("due");
    }),
  );
  await harness.waitUntilIdle();
  const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  expect(ids.sort()).toEqual(
    batches
      .flat()
      .map(({ id }) => id)
      .sort(),
  );
});

test("the delivery worker sends a delivery that another process has leased only after this lease expires", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  await create(receiver.url, caller, idleHarness);
  const event = aPaymentEvent(caller);
  await idleHarness.publish(event);
  expect((await claimOnce(idleHarness)).map((delivery) => delivery.event_id)).toEqual([event.id]);
  expect(await claimOnce(idleHarness)).toEqual([]);

  await using _worker = startDelivering(idleHarness.context);
  const laterEvent = aPaymentEvent(caller);
  await idleHarness.publish(laterEvent);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  expect(receiver.requests.splice(0).map(({ headers }) => headers["webhook-id"])).toEqual([laterEvent.id]);
  await idleHarness.sql("update delivery set leased_until = now() where event_id = ?", [event.id]);
  await idleHarness.waitUntilIdle();
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id]);
  expect(await deliveriesOf(event.id, caller, idleHarness)).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]);
});

test("the delivery worker waits for the response to an attempt in flight and records the result while it stops", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  let release = () => {};
  await using receiver = await startReceiver((response) => {
    release = () => response.end();
  });
  const caller = aBusinessCaller();
  await create(receiver.url, caller, idleHarness);
  const event = aPaymentEvent(caller);
  await idleHarness.publish(event);
  const worker = startDelivering(idleHarness.context);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  const stopping = worker[Symbol.asyncDispose]();
  release();
  await stopping;
  expect(await deliveriesOf(event.id, caller, idleHarness)).toMatchObject([
    { status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 200 }] },
  ]);
});

test("the delivery worker, when it aborts an attempt in order to stop, releases the lease and does not count the attempt", async () => {
  await using idleHarness = await startHarness({ deliver: false });
  await using receiver = await startReceiver(() => {});
  const caller = aBusinessCaller();
  await create(receiver.url, caller, idleHarness);
  const event = aPaymentEvent(caller);
  await idleHarness.publish(event);
  const worker = startDelivering({ ...idleHarness.context, delivery: { ...idleHarness.context.delivery, stopMs: 0 } });
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await worker[Symbol.asyncDispose]();
  expect(await idleHarness.sql("select status, attempts, lease_token, leased_until from delivery")).toEqual([
    { status: "PENDING", attempts: 0, lease_token: null, leased_until: null },
  ]);
});

test("the delivery worker keeps a redelivery's status SUCCEEDED if an attempt that began before the redelivery fails later", async () => {
  let failFirst = () => {};
  await using receiver = await startReceiver((response, number) => {
    if (number === 1) failFirst = () => response.writeHead(500).end();
    else response.end();
  });
  const caller = aBusinessCaller();
  await create(receiver.url, caller);
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await harness.events.redeliverEvent({ eventId: event.id }, { caller });
  await eventually(async () =>
    expect(await deliveriesOf(event.id, caller)).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]),
  );
  failFirst();
  await eventually(async () =>
    expect(await deliveriesOf(event.id, caller)).toMatchObject([
      { status: DeliveryStatus.SUCCEEDED, attempts: [{ statusCode: 200 }, { statusCode: 500 }] },
    ]),
  );
  expect(receiver.requests).toHaveLength(2);
});

test("deleteWebhookEndpoint deletes a pending delivery even while its attempt is in flight", async () => {
  let release = () => {};
  await using receiver = await startReceiver((response) => {
    release = () => response.end();
  });
  const caller = aBusinessCaller();
  const { id } = await create(receiver.url, caller);
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await eventually(() => expect(receiver.requests).toHaveLength(1));
  await harness.endpoints.deleteWebhookEndpoint({ id }, { caller });
  release();
  await harness.waitUntilIdle();
  expect(await deliveriesOf(event.id, caller)).toEqual([]);
  expect(receiver.requests).toHaveLength(1);
});

test("the delivery worker disables an endpoint whose attempts have failed for five days, and a successful attempt restarts this period", async () => {
  let status = 500;
  await using receiver = await startReceiver((response) => response.writeHead(status).end());
  const { caller, endpoint } = await deliverOne(receiver.url);
  const failingSince = async () =>
    (
      await harness.sql<{ since: string | null }>("select failing_since as since from webhook_endpoint where id = ?", [
        endpoint.id,
      ])
    )[0]?.since;
  const setFailingDays = (days: number) =>
    harness.sql(`update webhook_endpoint set failing_since = now() - ${days} * interval '1 day' where id = ?`, [endpoint.id]);
  const deliverAnother = async () => {
    await harness.publish(aPaymentEvent(caller));
    await harness.waitUntilIdle();
  };

  expect(await failingSince()).not.toBeNull();
  await setFailingDays(4.9);
  await deliverAnother();
  expect(await statusOf(endpoint.id, caller)).toBe(WebhookEndpointStatus.ACTIVE);
  status = 200;
  await deliverAnother();
  expect(await failingSince()).toBeNull();
  status = 500;
  await deliverAnother();
  await setFailingDays(5.1);
  await deliverAnother();
  await eventually(async () => expect(await statusOf(endpoint.id, caller)).toBe(WebhookEndpointStatus.DISABLED));
});

test("the delivery worker sets a delivery to FAILED with SECRET_UNREADABLE while the endpoint's secret is unreadable, and a later redelivery succeeds", async () => {
  await using receiver = await startReceiver();
  const caller = aBusinessCaller();
  const unreadable = await create(receiver.url, caller);
  const readable = await create(receiver.url, caller);
  const [row] = await harness.sql<{ secret_ciphertext: string }>("select secret_ciphertext from webhook_endpoint where id = ?", [
    unreadable.id,
  ]);
  const setSecret = (ciphertext = "") =>
    harness.sql("update webhook_endpoint set secret_ciphertext = ? where id = ?", [ciphertext, unreadable.id]);
  const deliveryTo = async ({ id }: { id: string }) =>
    (await deliveriesOf(event.id, caller)).find(({ endpointId }) => endpointId === id);
  await setSecret("lost:AAAA");
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  const failed = await deliveryTo(unreadable);
  expect(failed?.status).toBe(DeliveryStatus.FAILED);
  expect(failed?.attempts.map(({ failure }) => failure)).toEqual(Array(8).fill(DeliveryFailure.SECRET_UNREADABLE));
  expect(await deliveryTo(readable)).toMatchObject({ status: DeliveryStatus.SUCCEEDED });
  expect(receiver.requests).toHaveLength(1);
  const { health } = await harness.endpoints.getWebhookEndpoint({ id: unreadable.id }, { caller });
  expect([health?.failingSinceMs, health?.successRate24h]).toEqual([undefined, undefined]);

  await setSecret(row?.secret_ciphertext);
  await harness.events.redeliverEvent({ eventId: event.id, endpointId: unreadable.id }, { caller });
  await harness.waitUntilIdle();
  expect(await deliveryTo(unreadable)).toMatchObject({ status: DeliveryStatus.SUCCEEDED });
});

test("the delivery worker records the failure ADDRESS_FORBIDDEN if an endpoint's address is not public", async () => {
  await using strictHarness = await startHarness();
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:1/", caller, strictHarness);
  await strictHarness.sql("update webhook_endpoint set url = 'http://10.0.0.1/' where id = ?", [id]);
  const event = aPaymentEvent(caller);
  await strictHarness.publish(event);
  await strictHarness.waitUntilIdle();
  const [delivery] = await deliveriesOf(event.id, caller, strictHarness);
  expect(delivery?.attempts[0]).toMatchObject({
    failure: DeliveryFailure.ADDRESS_FORBIDDEN,
    error: "the address is not public",
  });
  expect(delivery?.attempts[0]?.statusCode).toBeUndefined();
});
