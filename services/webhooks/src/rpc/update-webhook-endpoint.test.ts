import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

const anEndpoint = async () => {
  const caller = aBusinessCaller();
  const created = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/old" }, { caller });
  return { caller, created, id: created.id };
};

const read = async (id: string, caller: ReturnType<typeof aBusinessCaller>) => {
  const { health: _, ...endpoint } = await harness.endpoints.getWebhookEndpoint({ id }, { caller });
  return endpoint;
};

test("updateWebhookEndpoint changes only `updated_at` and the field in the request (`url`, `status` or `events`)", async () => {
  const { caller, created, id } = await anEndpoint();
  const updated = await harness.endpoints.updateWebhookEndpoint({ id, url: "http://127.0.0.1/new" }, { caller });
  const expected = { ...created, url: "http://127.0.0.1/new", secret: undefined, updatedAtMs: expect.any(BigInt) };
  expect(updated).toEqual(expected);
  expect(updated.updatedAtMs).toBeGreaterThan(created.updatedAtMs);

  const disabled = await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  expect(disabled).toEqual({ ...expected, status: WebhookEndpointStatus.DISABLED });
  const enabled = await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.ACTIVE }, { caller });
  expect(enabled).toEqual(expected);

  const events = ["KYC_CANCELED"];
  expect(await harness.endpoints.updateWebhookEndpoint({ id, events: { types: events } }, { caller })).toEqual({
    ...expected,
    events,
  });
  expect(await harness.endpoints.updateWebhookEndpoint({ id, events: { types: [] } }, { caller })).toEqual(expected);
});

test("updateWebhookEndpoint changes no field and keeps `updated_at` if the request contains no new value", async () => {
  const { caller, created, id } = await anEndpoint();
  expect(await harness.endpoints.updateWebhookEndpoint({ id }, { caller })).toEqual({ ...created, secret: undefined });
  expect(await harness.endpoints.updateWebhookEndpoint({ id, url: created.url }, { caller })).toEqual({
    ...created,
    secret: undefined,
  });
});

test("updateWebhookEndpoint with `rotateSecret` returns the new secret, and stores the encrypted previous secret for 24 hours", async () => {
  const { caller, created, id } = await anEndpoint();
  const rotated = await harness.endpoints.updateWebhookEndpoint({ id, rotateSecret: true }, { caller });
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(created.secret);
  expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).secret).toBeUndefined();

  const [row] = await harness.sql<{ is_a_day: boolean; previous: string; current: string }>(
    `select previous_secret_until - updated_at = interval '24 hours' as is_a_day, previous_secret_ciphertext as previous, secret_ciphertext as current
     from webhook_endpoint where id = ?`,
    [id],
  );
  expect(row?.is_a_day).toBe(true);
  const { secrets } = harness.context;
  expect(secrets.decrypt(row?.previous as string, id)).toBe(created.secret);
  expect(secrets.decrypt(row?.current as string, id)).toBe(rotated.secret);
});

test("updateWebhookEndpoint computes a secret's activation time from the database's clock, even if the process's clock is a day behind", async () => {
  const { caller, id } = await anEndpoint();
  harness.clock.nowMs = Date.now() - 24 * 60 * 60 * 1000;
  try {
    await harness.endpoints.updateWebhookEndpoint({ id, rotateSecret: true, activateInSeconds: 86_400 }, { caller });
  } finally {
    harness.clock.nowMs = undefined;
  }
  const areInFuture = "secret_active_from > now() + interval '12 hours' and previous_secret_until > now() + interval '12 hours'";
  expect(await harness.sql(`select 1 from webhook_endpoint where id = ? and ${areInFuture}`, [id])).toHaveLength(1);
});

test("updateWebhookEndpoint rejects a rotation if `activateInSeconds` is not from 0 to 86400", async () => {
  const { caller, created, id } = await anEndpoint();
  for (const activateInSeconds of [-1, 86_401]) {
    await expect(
      harness.endpoints.updateWebhookEndpoint({ id, rotateSecret: true, activateInSeconds }, { caller }),
    ).rejects.toMatchObject({ kind: "invalid", pointer: "/activate_in_seconds" });
  }
  const [row] = await harness.sql<{ secret: string }>("select secret_ciphertext as secret from webhook_endpoint where id = ?", [
    id,
  ]);
  expect(harness.context.secrets.decrypt(row?.secret as string, id)).toBe(created.secret);
});

test("updateWebhookEndpoint changes no field if the request's URL or an event type is invalid", async () => {
  const { caller, created, id } = await anEndpoint();
  await expect(
    harness.endpoints.updateWebhookEndpoint({ id, url: "http://10.0.0.1/", rotateSecret: true }, { caller }),
  ).rejects.toMatchObject({ code: "url_not_public", pointer: "/url" });
  await expect(
    harness.endpoints.updateWebhookEndpoint({ id, url: "http://127.0.0.1/new", events: { types: ["NOPE"] } }, { caller }),
  ).rejects.toMatchObject({ code: "unknown_event_type", pointer: "/events" });
  expect(await read(id, caller)).toEqual({ ...created, secret: undefined });
});

test("updateWebhookEndpoint returns the same error not_found for an unknown id, a malformed id and another business's id, and changes no endpoint", async () => {
  const { caller, created, id } = await anEndpoint();
  const refusals = await Promise.all(
    [id, uuidv7(), "nonsense"].map((otherId) =>
      harness.endpoints
        .updateWebhookEndpoint({ id: otherId, url: "http://10.0.0.1/", rotateSecret: true }, { caller: aBusinessCaller() })
        .catch((error: unknown) => error),
    ),
  );
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  expect(await read(id, caller)).toEqual({ ...created, secret: undefined });
});
