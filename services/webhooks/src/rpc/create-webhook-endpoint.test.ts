import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { aBusinessCaller, adminCaller, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

const url = "https://93.184.215.14/hook";
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ allowInsecure: false, deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("createWebhookEndpoint creates an ACTIVE endpoint and returns its secret", async () => {
  const caller = aBusinessCaller();
  const endpoint = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  expect(endpoint).toMatchObject({ businessId: caller.businessId, url, status: WebhookEndpointStatus.ACTIVE, events: [] });
  expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(endpoint.createdAtMs).toBe(endpoint.updatedAtMs);

  const [row] = await harness.sql("select business_id, status, url from webhook_endpoint where id = ?", [endpoint.id]);
  expect(row).toEqual({ business_id: caller.businessId, status: "ACTIVE", url });
});

test("createWebhookEndpoint and a rotation by updateWebhookEndpoint store no secret in plain text", async () => {
  const caller = aBusinessCaller();
  const created = await harness.endpoints.createWebhookEndpoint({ url }, withIdempotencyKey(caller, "k"));
  const rotated = await harness.endpoints.updateWebhookEndpoint({ id: created.id, rotateSecret: true }, { caller });
  const tables = await harness.sql<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  expect(tables.map(({ name }) => name)).toContain("idempotency_key");
  for (const { name } of tables) {
    const rows = await harness.sql<{ text: string }>(`select t::text as text from "${name}" t`);
    const stored = name === "idempotency_key" ? await harness.sql<{ answer: Buffer }>("select answer from idempotency_key") : [];
    const storedText = [...rows.map(({ text }) => text), ...stored.map(({ answer }) => answer.toString("latin1"))].join("\n");
    for (const secret of [created.secret, rotated.secret])
      expect(storedText).not.toContain((secret as string).slice("whsec_".length));
  }
});

test("createWebhookEndpoint returns the existing endpoint without its secret when a request repeats the Idempotency-Key", async () => {
  const caller = aBusinessCaller();
  const first = await harness.endpoints.createWebhookEndpoint({ url }, withIdempotencyKey(caller, "key-1"));
  let replayed = false;
  const second = await harness.endpoints.createWebhookEndpoint(
    { url },
    { ...withIdempotencyKey(caller, "key-1"), onReplayed: () => (replayed = true) },
  );
  expect(first.secret).toBeDefined();
  expect(second).toEqual({ ...first, secret: undefined });
  expect(replayed).toBe(true);
  expect((await harness.endpoints.listWebhookEndpoints({ limit: 50, offset: 0 }, { caller })).total).toBe(1);
});

test("createWebhookEndpoint accepts a URL that another endpoint of the business already has", async () => {
  const caller = aBusinessCaller();
  const first = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const second = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  expect(second.id).not.toBe(first.id);
});

test("createWebhookEndpoint accepts exactly 20 of 25 concurrent requests of one business, and still accepts a request of another business", async () => {
  const caller = aBusinessCaller();
  const results = await Promise.allSettled(
    Array.from({ length: 25 }, () => harness.endpoints.createWebhookEndpoint({ url }, { caller, timeoutMs: 20_000 })),
  );
  const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(refusals).toHaveLength(5);
  for (const refusal of refusals) expect(refusal).toMatchObject({ kind: "conflict", code: "webhook_endpoint_limit_reached" });
  await harness.endpoints.createWebhookEndpoint({ url }, { caller: aBusinessCaller() });
});

test("createWebhookEndpoint rejects an http URL with url_not_https and a loopback address with url_not_public, both with the pointer /url", async () => {
  const caller = aBusinessCaller();
  const create = (forbiddenUrl: string) => harness.endpoints.createWebhookEndpoint({ url: forbiddenUrl }, { caller });
  await expect(create("http://93.184.215.14/")).rejects.toMatchObject({
    kind: "invalid",
    code: "url_not_https",
    pointer: "/url",
  });
  await expect(create("https://127.0.0.1/")).rejects.toMatchObject({
    kind: "invalid",
    code: "url_not_public",
    pointer: "/url",
  });
});

test("createWebhookEndpoint stores each event type once, and rejects an unknown type and WEBHOOK_TEST with the pointer /events", async () => {
  const caller = aBusinessCaller();
  const events = ["PAYMENT_REFUNDED", "KYC_DOCUMENT_EXPIRED", "PAYMENT_REFUNDED"];
  const endpoint = await harness.endpoints.createWebhookEndpoint({ url, events }, { caller });
  expect(endpoint.events).toEqual(["PAYMENT_REFUNDED", "KYC_DOCUMENT_EXPIRED"]);
  for (const type of ["PAYMENT_LOST", "WEBHOOK_TEST", "payment_refunded", "toString"])
    await expect(harness.endpoints.createWebhookEndpoint({ url, events: [type] }, { caller })).rejects.toMatchObject({
      kind: "invalid",
      code: "unknown_event_type",
      pointer: "/events",
    });
});

test("createWebhookEndpoint rejects an operator key", async () => {
  await expect(harness.endpoints.createWebhookEndpoint({ url }, { caller: adminCaller })).rejects.toMatchObject({
    code: "business_key_required",
  });
});
