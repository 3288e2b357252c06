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

type Receive = (request: ReceivedRequest, secret: string, seen: Set<string>) => number;

/** The receiver that the documentation asks for. */
const careful: Receive = ({ headers, body }, secret) => {
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
const refusesWhatItKnows: Receive = (request, secret, seen) => {
  const id = String(request.headers["webhook-id"]);
  const status = careful(request, secret, seen);
  if (status === 204 && seen.has(id)) return 409;
  seen.add(id);
  return status;
};

/** A business with one endpoint at a receiver that answers so. */
async function aReceiver(receive: Receive, headers: Record<string, string> = {}) {
  const [caller, seen] = [aBusinessCaller(), new Set<string>()];
  let secret = "";
  const answer = (response: ServerResponse, _: number, request: ReceivedRequest) => {
    const status = receive(request, secret, seen);
    if (status > 0) response.writeHead(status, headers).end();
  };
  const receiver = await startReceiver(answer);
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

test("a careful receiver passes all, and what it was sent says what it is", async () => {
  await using receiver = await aReceiver(careful);
  const { checks } = await receiver.check();
  expect(checks.map(({ name, passed }) => [name, passed])).toEqual(names.map((name) => [name, true]));
  expect(checks[0]?.detail).toMatch(/^answered 204 in \d+ ms$/);

  expect(receiver.requests).toHaveLength(4);
  for (const { method, headers, body } of receiver.requests) {
    const { id, event, occurred_at, business_id, ...rest } = JSON.parse(body.toString());
    expect([method, headers["x-webhook-event"], event, rest]).toEqual(["POST", "WEBHOOK_CHECK", "WEBHOOK_CHECK", {}]);
    expect([headers["webhook-id"], business_id]).toEqual([id, receiver.caller.businessId]);
    expect(Number.isNaN(Date.parse(occurred_at))).toBe(false);
  }
  const bodies = Map.groupBy(receiver.requests, ({ body }) => body.toString());
  expect([...bodies.values()].map(({ length }) => length).toSorted()).toEqual([1, 1, 2]);
  const old = receiver.requests.filter(({ headers }) => Number(headers["webhook-timestamp"]) < Date.now() / 1000 - 3_000);
  expect(old).toHaveLength(1);
  expect(xSignatureOnly(old[0] as ReceivedRequest, receiver.secret, new Set())).toBe(200);
});

describe("what is wrong with a receiver is said:", () => {
  test.each<[string, Receive, passed: WebhookCheckName[], (RegExp | undefined)[]]>([
    ["it takes everything", () => 200, [GOOD, DUPLICATE], [undefined, /accepts forged/, undefined, /an hour old/]],
    [
      "it checks X-Signature alone",
      xSignatureOnly,
      [GOOD, FORGED_SIGNATURE, DUPLICATE],
      [undefined, undefined, undefined, /verify webhook-signature/],
    ],
    [
      "it fails at everything",
      () => 500,
      [FORGED_SIGNATURE, OLD_TIMESTAMP],
      [/^answered 500 .*genuine/, undefined, /^answered 500/],
    ],
    ["it redirects", () => 302, [FORGED_SIGNATURE, OLD_TIMESTAMP], [/Redirects are not followed/]],
    [
      "it refuses what it knows",
      refusesWhatItKnows,
      [GOOD, FORGED_SIGNATURE, OLD_TIMESTAMP],
      [undefined, undefined, /at least once/],
    ],
    ["it says that it is gone", () => 410, [FORGED_SIGNATURE, OLD_TIMESTAMP], [/^answered 410/]],
    ["it keeps silent", () => 0, [], [/timed out/, /not known/, /timed out/, /not known/]],
  ])("%s", async (_, receive, passed, details) => {
    await using receiver = await aReceiver(receive, { location: "/elsewhere" });
    const { checks } = await receiver.check();
    expect(checks.map(({ name }) => name)).toEqual(names);
    expect(checks.filter((check) => check.passed).map(({ name }) => name)).toEqual(passed);
    for (const [i, detail] of details.entries()) if (detail) expect(checks[i]?.detail).toMatch(detail);
    expect(receiver.requests).toHaveLength(4);
    expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(["/hook"]));
  });
});

test("a check leaves nothing in the log and nothing in the endpoint's health", async () => {
  await using receiver = await aReceiver(() => 410);
  const before = await harness.endpoints.getWebhookEndpoint({ id: receiver.id }, receiver);
  await receiver.check();
  await harness.settled();
  expect(await harness.endpoints.getWebhookEndpoint({ id: receiver.id }, receiver)).toEqual(before);
  expect((await harness.events.listEvents({ limit: 1, offset: 0 }, receiver)).total).toBe(0);
  expect(await harness.sql("select 1 from delivery where endpoint_id = ?", [receiver.id])).toEqual([]);
});

test("an address that is not public is not connected to", async () => {
  await using receiver = await aReceiver(careful);
  await harness.sql("update webhook_endpoint set url = 'https://10.0.0.1/hook' where id = ?", [receiver.id]);
  const { checks } = await receiver.check();
  for (const { passed, detail } of checks) expect([passed, detail]).toEqual([false, expect.stringMatching(/not public/)]);
});

test("no transaction is open while the receiver is waited for, and meanwhile it is checked once", async () => {
  await using receiver = await aReceiver(() => 0);
  const checking = receiver.check();
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(0));
  const open = "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
  expect(await harness.sql(open)).toEqual([]);
  const again = { kind: "conflict", code: "endpoint_checked_recently" };
  await expect(receiver.check()).rejects.toMatchObject(again);
  await checking;
  await expect(receiver.check()).rejects.toMatchObject(again);
  await harness.sql("update webhook_endpoint set checked_at = now() - interval '11 seconds' where id = ?", [receiver.id]);
  expect((await receiver.check()).checks).toHaveLength(4);
  expect(receiver.requests).toHaveLength(8);
});

test("the same Idempotency-Key checks once", async () => {
  await using receiver = await aReceiver(careful);
  const check = () => harness.endpoints.checkWebhookEndpoint({ id: receiver.id }, withIdempotencyKey(receiver.caller, "again"));
  const first = await check();
  expect(await check()).toEqual(first);
  expect(receiver.requests).toHaveLength(4);
});

test("during a rotation a receiver that knows only the old secret passes", async () => {
  await using receiver = await aReceiver(careful);
  await harness.endpoints.updateWebhookEndpoint({ id: receiver.id, rotateSecret: true }, receiver);
  const { checks } = await receiver.check();
  expect(checks.map(({ passed }) => passed)).toEqual([true, true, true, true]);
});

test("a DISABLED endpoint is not checked; another business's, an unknown and a malformed id are refused alike", async () => {
  await using receiver = await aReceiver(careful);
  await using foreign = await aReceiver(careful);
  const { caller, id } = receiver;
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  await expect(receiver.check()).rejects.toMatchObject({ kind: "conflict", code: "webhook_endpoint_disabled" });
  const check = (one: string) => harness.endpoints.checkWebhookEndpoint({ id: one }, { caller });
  const refusals = await Promise.all([foreign.id, uuidv7(), "x"].map((one) => check(one).catch((error: unknown) => error)));
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  expect(receiver.requests.length + foreign.requests.length).toBe(0);
});
