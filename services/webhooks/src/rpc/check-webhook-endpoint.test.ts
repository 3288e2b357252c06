import type { ServerResponse } from "node:http";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { WebhookCheckName } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, withIdempotencyKey } from "@amana/testing";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, type ReceivedRequest, startHarness, startReceiver } from "../../test/harness.ts";
import { signatureHeaders } from "../delivery/signature.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: { timeoutMs: 1_000 } });
});
afterAll(() => harness[Symbol.asyncDispose]());

type Receive = (request: ReceivedRequest, secret: string, seenIds: Set<string>) => number;

/** Verifies a request as the documentation recommends, and returns the status of the response. */
const correctReceiver: Receive = ({ headers, body }, secret) => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return 204;
  } catch {
    return 401;
  }
};
const xSignatureOnly: Receive = ({ headers, body }, current) => {
  const expected = signatureHeaders("", 0, body, { current, other: undefined })["x-signature"];
  return headers["x-signature"] === expected ? 200 : 403;
};
const rejectsDuplicates: Receive = (request, secret, seenIds) => {
  const id = String(request.headers["webhook-id"]);
  const status = correctReceiver(request, secret, seenIds);
  if (status === 204 && seenIds.has(id)) return 409;
  seenIds.add(id);
  return status;
};

/**
 * Creates a business with an endpoint. The endpoint's receiver responds with the status that
 * `receive` returns, or not at all if the status is 0.
 */
async function aReceiver(receive: Receive, headers: Record<string, string> = {}) {
  const [caller, seenIds] = [aBusinessCaller(), new Set<string>()];
  let secret = "";
  const respond = (response: ServerResponse, _: number, request: ReceivedRequest) => {
    const status = receive(request, secret, seenIds);
    if (status > 0) response.writeHead(status, headers).end();
  };
  const receiver = await startReceiver(respond);
  const endpoint = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  secret = endpoint.secret ?? "";
  return {
    ...receiver,
    id: endpoint.id,
    caller,
    secret,
    check: () => harness.endpoints.checkWebhookEndpoint({ id: endpoint.id }, { caller }),
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

const { GOOD, FORGED_SIGNATURE, DUPLICATE, OLD_TIMESTAMP } = WebhookCheckName;
const names = [GOOD, FORGED_SIGNATURE, DUPLICATE, OLD_TIMESTAMP];

test("checkWebhookEndpoint sends four WEBHOOK_CHECK events and returns four passed checks for a correct receiver", async () => {
  await using receiver = await aReceiver(correctReceiver);
  const { checks } = await receiver.check();
  expect(checks.map(({ name, passed }) => [name, passed])).toEqual(names.map((name) => [name, true]));
  expect(checks[0]?.detail).toMatch(/^responded with 204 in \d+ ms$/);

  expect(receiver.requests).toHaveLength(4);
  for (const { method, headers, body } of receiver.requests) {
    const { id, event, occurred_at, business_id, ...otherFields } = JSON.parse(body.toString());
    expect([method, headers["x-webhook-event"], event, otherFields]).toEqual(["POST", "WEBHOOK_CHECK", "WEBHOOK_CHECK", {}]);
    expect([headers["webhook-id"], business_id]).toEqual([id, receiver.caller.businessId]);
    expect(Number.isNaN(Date.parse(occurred_at))).toBe(false);
  }
  const bodies = Map.groupBy(receiver.requests, ({ body }) => body.toString());
  expect([...bodies.values()].map(({ length }) => length).toSorted()).toEqual([1, 1, 2]);
  const oldRequests = receiver.requests.filter(({ headers }) => Number(headers["webhook-timestamp"]) < Date.now() / 1000 - 3_000);
  expect(oldRequests).toHaveLength(1);
  expect(xSignatureOnly(oldRequests[0] as ReceivedRequest, receiver.secret, new Set())).toBe(200);
});

describe("check results of a receiver", () => {
  test.each<[string, Receive, passed: WebhookCheckName[], (RegExp | undefined)[]]>([
    ["that accepts all requests", () => 200, [GOOD, DUPLICATE], [undefined, /accepted a forged/, undefined, /an hour old/]],
    [
      "that verifies only X-Signature",
      xSignatureOnly,
      [GOOD, FORGED_SIGNATURE, DUPLICATE],
      [undefined, undefined, undefined, /Verify webhook-signature/],
    ],
    [
      "that responds with 500 to all requests",
      () => 500,
      [FORGED_SIGNATURE, OLD_TIMESTAMP],
      [/^responded with 500 .*authentic/, undefined, /^responded with 500/],
    ],
    ["that redirects", () => 302, [FORGED_SIGNATURE, OLD_TIMESTAMP], [/Redirects are not followed/]],
    [
      "that rejects repeated events",
      rejectsDuplicates,
      [GOOD, FORGED_SIGNATURE, OLD_TIMESTAMP],
      [undefined, undefined, /more than once/],
    ],
    ["that responds with 410", () => 410, [FORGED_SIGNATURE, OLD_TIMESTAMP], [/^responded with 410/]],
    ["that does not respond", () => 0, [], [/timed out/, /cannot determine/, /timed out/, /cannot determine/]],
  ])(
    "checkWebhookEndpoint returns the failed checks and their reasons for a receiver %s",
    async (_, receive, passed, details) => {
      await using receiver = await aReceiver(receive, { location: "/elsewhere" });
      const { checks } = await receiver.check();
      expect(checks.map(({ name }) => name)).toEqual(names);
      expect(checks.filter((check) => check.passed).map(({ name }) => name)).toEqual(passed);
      for (const [i, detail] of details.entries()) if (detail) expect(checks[i]?.detail).toMatch(detail);
      expect(receiver.requests).toHaveLength(4);
      expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(["/hook"]));
    },
  );
});

test("checkWebhookEndpoint creates no event and no delivery, and does not change the endpoint's health", async () => {
  await using receiver = await aReceiver(() => 410);
  const before = await harness.endpoints.getWebhookEndpoint({ id: receiver.id }, receiver);
  await receiver.check();
  await harness.waitUntilIdle();
  expect(await harness.endpoints.getWebhookEndpoint({ id: receiver.id }, receiver)).toEqual(before);
  expect((await harness.events.listEvents({ limit: 1, offset: 0 }, receiver)).total).toBe(0);
  expect(await harness.sql("select 1 from delivery where endpoint_id = ?", [receiver.id])).toEqual([]);
});

test("checkWebhookEndpoint returns all checks as failed if the endpoint's address is not public", async () => {
  await using receiver = await aReceiver(correctReceiver);
  await harness.sql("update webhook_endpoint set url = 'https://10.0.0.1/hook' where id = ?", [receiver.id]);
  const { checks } = await receiver.check();
  for (const { passed, detail } of checks) expect([passed, detail]).toEqual([false, expect.stringMatching(/not public/)]);
});

test("checkWebhookEndpoint keeps no transaction open while it waits for responses, and rejects a second check within ten seconds", async () => {
  await using receiver = await aReceiver(() => 0);
  const runningCheck = receiver.check();
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(0));
  const openTransactions =
    "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
  expect(await harness.sql(openTransactions)).toEqual([]);
  const recentlyChecked = { kind: "conflict", code: "endpoint_checked_recently" };
  await expect(receiver.check()).rejects.toMatchObject(recentlyChecked);
  await runningCheck;
  await expect(receiver.check()).rejects.toMatchObject(recentlyChecked);
  await harness.sql("update webhook_endpoint set checked_at = now() - interval '11 seconds' where id = ?", [receiver.id]);
  expect((await receiver.check()).checks).toHaveLength(4);
  expect(receiver.requests).toHaveLength(8);
});

test("checkWebhookEndpoint runs one check for two requests with the same Idempotency-Key, and returns the check's result to both", async () => {
  await using receiver = await aReceiver(correctReceiver);
  const check = () => harness.endpoints.checkWebhookEndpoint({ id: receiver.id }, withIdempotencyKey(receiver.caller, "again"));
  const first = await check();
  expect(await check()).toEqual(first);
  expect(receiver.requests).toHaveLength(4);
});

test("checkWebhookEndpoint returns passed checks during a secret rotation even if the receiver has only the previous secret", async () => {
  await using receiver = await aReceiver(correctReceiver);
  await harness.endpoints.updateWebhookEndpoint({ id: receiver.id, rotateSecret: true }, receiver);
  const { checks } = await receiver.check();
  expect(checks.map(({ passed }) => passed)).toEqual([true, true, true, true]);
});

test("checkWebhookEndpoint rejects a DISABLED endpoint, and returns the same error not_found for an unknown id, a malformed id and another business's id", async () => {
  await using receiver = await aReceiver(correctReceiver);
  await using foreignReceiver = await aReceiver(correctReceiver);
  const { caller, id } = receiver;
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  await expect(receiver.check()).rejects.toMatchObject({ kind: "conflict", code: "webhook_endpoint_disabled" });
  const check = (id: string) => harness.endpoints.checkWebhookEndpoint({ id }, { caller });
  const refusals = await Promise.all([foreignReceiver.id, uuidv7(), "x"].map((id) => check(id).catch((error: unknown) => error)));
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  expect(receiver.requests.length + foreignReceiver.requests.length).toBe(0);
});
