import { createHmac, randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { serviceProcess } from "@amana/dev-env/service-process";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Application,
  anApplication,
  applications,
  waitForCallbacks,
  clearFaults,
  setFault,
  webhookTypesOf,
  kycEventTypes,
  actOnLink,
  readProviderView,
  waitForWebhook,
  tryToActOnLink,
} from "../../src/kyc-harness.ts";
import { readKafka } from "../../src/read-kafka.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let kycDatabase: Client;

beforeAll(async () => {
  testSystem = await startTestSystem("kafka", {
    kyc: { KYC_PROVIDER_TIMEOUT_MS: "500" },
    sandbox: { KYC_CALLBACK_RETRY_SECONDS: "0.2,0.2,0.3,0.5,0.5" },
  });
  business = await aBusiness(testSystem.system, "Banque", kycEventTypes);
  kycDatabase = new Client({ connectionString: testSystem.system.databaseUrls["kyc"] });
  await kycDatabase.connect();
});
afterEach(() => clearFaults(testSystem.system));
afterAll(async () => {
  await kycDatabase?.end();
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

/** Expected webhooks of each application, which the last test compares. */
const expected = new Map<string, string[]>();
const expectTold = (id: string, ...kinds: string[]) => expected.set(id, kinds.sort());

const create = (key: string) => business.call("POST", applications, { external_id: key }, { "idempotency-key": key });
const read = async (id: string) => (await business.call("GET", `${applications}/${id}`)).body;
const cancel = (id: string, headers = {}) => business.call("POST", `${applications}/${id}/cancel`, undefined, headers);
const totalOf = async (externalId: string) =>
  (await business.call("GET", `${applications}?external_id=${externalId}`)).headers["x-total-count"];
const review = (id: string, headers = {}, note = "Another date of birth.") =>
  apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey)(
    "POST",
    `${applications}/${id}/review`,
    { outcome: "APPROVED", note },
    headers,
  );
const rowOf = async (id: string) =>
  (await kycDatabase.query("select to_jsonb(a) as row from kyc_application a where id = $1", [id])).rows[0]?.row;

/** Waits until kyc has the state of the provider. */
const agreed = (id: string) =>
  eventually(async () => {
    const [stored, atProvider] = [await rowOf(id), await readProviderView(testSystem.system, id)];
    expect(stored?.status).toBe(atProvider.status);
    return atProvider;
  });

/**
 * Restarts kyc with a fault point at which it kills itself during the action, and starts it again.
 */
async function dyingAt(faultPoint: string, action: () => Promise<unknown>): Promise<void> {
  const { kyc } = testSystem.system.services;
  // A late callback would reach the fault point before the action.
  await eventually(() => expect(queryProvider("select id from kyc_callback where state = 'pending'")).toEqual([]));
  await kyc.kill();
  try {
    await kyc.start({ FAULT_POINT: faultPoint });
    await testSystem.system.ready();
    await action();
    await eventually(() => expect(kyc.running(), `kyc reached ${faultPoint}`).toBe(false));
  } finally {
    await kyc.kill();
    await kyc.start();
    await testSystem.system.ready();
  }
}

function queryProvider(sql: string): Record<string, unknown>[] {
  const dir = testSystem.system.envOf("sandbox")["SANDBOX_DATA_DIR"] ?? "";
  using books = new DatabaseSync(join(dir, "sandbox.sqlite"), { readOnly: true });
  return books.prepare(sql).all();
}

/** Expects one application for a key: in the response, in the list and at the provider. */
async function expectOneFor(key: string): Promise<Application> {
  const again = await eventually(async () => {
    const answer = await create(key);
    expect(answer.status, answer.text).toBe(201);
    return answer;
  });
  expect(await totalOf(key)).toBe("1");
  const id = String(again.body["id"]);
  expect((await create(key)).text).toBe(again.text);
  expectTold(id);
  return { id, link: String(again.body["link_url"]) };
}

/** Keys whose creation was killed. They stay held until the first caller has surely timed out. */
const orphaned: string[] = [];

/**
 * Tests a kill for each guarantee. services/kyc/test/crash.test.ts tests every fault point with the
 * service alone.
 */
describe("kyc killed with SIGKILL", () => {
  test.each(["application.linked"])(
    "during a creation at %s, before the commit: the list is empty and the key is held",
    async (faultPoint) => {
      const key = `dead-${faultPoint}`;
      await dyingAt(faultPoint, async () => expect((await create(key)).status).toBeGreaterThanOrEqual(500));
      expect(await totalOf(key)).toBe("0");
      const held = await create(key);
      expect([held.status, held.body["code"]]).toEqual([409, "idempotency_in_progress"]);
      orphaned.push(key);
    },
  );

  test.each(["cancel.committed"])(
    "during a cancellation at %s: a retry returns CANCELED, and one event is emitted",
    async (faultPoint) => {
      const { id } = await anApplication(business);
      expectTold(id, "KYC_CANCELED");
      const key = { "idempotency-key": randomUUID() };
      await dyingAt(faultPoint, async () => expect((await cancel(id, key)).status).toBeGreaterThanOrEqual(500));
      const answer = await cancel(id, key);
      expect([answer.status, answer.body["status"]]).toEqual([200, "CANCELED"]);
      expect((await cancel(id, key)).text).toBe(answer.text);
      await waitForWebhook(business, "KYC_CANCELED", id);
    },
  );

  test.each(["callback.committed"])(
    "during a callback at %s: the provider retries it, and it takes effect once",
    async (faultPoint) => {
      const { id, link } = await anApplication(business);
      expectTold(id, "KYC_REJECTED");
      await dyingAt(faultPoint, () => actOnLink(testSystem.system, link, "submit", { outcome: "rejected" }));
      await waitForWebhook(business, "KYC_REJECTED", id);
      await waitForCallbacks(testSystem.system, id);
    },
  );

  test.each(["kyc_review.answered"])(
    "during a review at %s: the review is applied, published and audited once, and the same key returns it",
    async (faultPoint) => {
      const { id, link } = await anApplication(business);
      expectTold(id, "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED");
      await actOnLink(testSystem.system, link, "submit", { outcome: "needs_review" });
      await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
      const key = { "idempotency-key": randomUUID() };
      await dyingAt(faultPoint, async () => expect((await review(id, key)).status).toBeGreaterThanOrEqual(500));
      await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id);
      const answer = await review(id, key);
      expect([answer.status, answer.body["verdict"]]).toEqual([200, "APPROVED"]);
      await eventually(async () => expect(await auditOf(id)).toHaveLength(1));
    },
  );
});

describe("a creation while the provider is down", () => {
  test.each(["http_503", "timeout_before"])(
    "%s: returns 503 with Retry-After and lists nothing; the same key later creates one application",
    async (mode) => {
      const key = `down-${mode}`;
      await setFault(testSystem.system, "kyc_create", mode, 100);
      const answer = await create(key);
      expect([answer.status, answer.body["code"]]).toEqual([503, "kyc_provider_unavailable"]);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      expect(await totalOf(key)).toBe("0");
      await clearFaults(testSystem.system);
      await expectOneFor(key);
    },
  );

  test("with a frozen process: returns 503, as does a cancellation", async () => {
    const { id } = await anApplication(business);
    expectTold(id, "KYC_CANCELED");
    await testSystem.system.services.sandbox.stop();
    try {
      const answer = await create("stopped");
      expect([answer.status, Number(answer.headers["retry-after"]) > 0]).toEqual([503, true]);
      expect(await totalOf("stopped")).toBe("0");
      expect((await cancel(id)).status).toBe(503);
      expect(await read(id)).toMatchObject({ status: "CREATED" });
    } finally {
      await testSystem.system.services.sandbox.start();
    }
    await expectOneFor("stopped");
    expect((await cancel(id)).status).toBe(200);
  });

  test("with a slow response: creates one application, whether the response is in time or the request is repeated", async () => {
    for (const mode of ["slow:200", "slow:1000"]) {
      await setFault(testSystem.system, "kyc_create", mode);
      const first = await create(mode.replace(":", "-"));
      expect(first.status).toBe(201);
      expect((await expectOneFor(mode.replace(":", "-"))).id).toBe(first.body["id"]);
    }
  });
});

describe("callbacks", () => {
  test.each([
    ["drop", 4],
    ["duplicate", 4],
    ["reorder", 3],
    ["bad_signature", 4],
    ["reset_after", 4],
    ["truncated", 4],
    ["http_500", 6],
  ])("%s: cause one webhook of the right type, at the latest after the next poll", async (mode, times) => {
    const { id, link } = await anApplication(business);
    expectTold(id, "KYC_NEEDS_REVIEW");
    await setFault(testSystem.system, "kyc_callback", mode, times);
    await actOnLink(testSystem.system, link, "submit", { outcome: "approved", aml_hit_count: 1 });
    await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
    await waitForCallbacks(testSystem.system, id);
  });

  test("return 401 and change nothing if they are forged or older than six minutes", async () => {
    const { id, link } = await anApplication(business);
    expectTold(id, "KYC_COMPLETED");
    await actOnLink(testSystem.system, link, "submit", { outcome: "approved" });
    await waitForWebhook(business, "KYC_COMPLETED", id);
    const [event = {}] = (await waitForCallbacks(testSystem.system, id)).slice(-1);
    const secret = testSystem.system.envOf("kyc")["KYC_CALLBACK_SECRETS"] ?? "";
    const genuine = JSON.stringify(event);
    const deliver = async (body: string, key = secret, ageSeconds = 0, signed = body) => {
      const t = Math.floor(Date.now() / 1000) - ageSeconds;
      const v1 = createHmac("sha256", key).update(`${t}.${signed}`).digest("hex");
      return await post(body, { "x-provider-signature": `t=${t},v1=${v1}` });
    };
    const post = async (body: string, headers: Record<string, string>) => {
      const answer = await request(`${testSystem.system.gatewayUrl}/callbacks/kyc`, { method: "POST", body, headers });
      await answer.body.dump();
      return answer.statusCode;
    };
    const renamed = JSON.stringify({ ...event, event_id: randomUUID() });
    const stored = async () => [await rowOf(id), (await kycDatabase.query("select count(*) from provider_event")).rows];
    const before = await stored();
    const refusals = [
      await deliver(genuine, secret, 360),
      await deliver(renamed, secret, 301),
      await deliver(renamed, secret, -360),
      await deliver(renamed, `not ${secret}`),
      await deliver(renamed, secret, 0, genuine),
      await post(renamed, {}),
      await post(renamed, { "x-provider-signature": "t=,v1=" }),
    ];
    expect(refusals).toEqual(Array(refusals.length).fill(401));
    expect(await stored()).toEqual(before);
    // Only their signature was invalid.
    expect(await deliver(renamed)).toBe(204);
    expect(await stored()).not.toEqual(before);
  });
});

describe("concurrent requests", () => {
  const rounds = 24;
  const atOnce = 8;
  /** Delays by a number of round trips, so that the other request is first. */
  const after = async (trips: number) => {
    for (let trip = 0; trip < trips; trip++) await (await request(`${testSystem.system.sandboxUrl}/healthz`)).body.dump();
  };

  /** Runs a few rounds at a time. With all rounds at once the provider would time out. */
  const race = async <T>(play: (application: Application, round: number) => Promise<T>): Promise<T[]> => {
    const ends: T[] = [];
    for (let round = 0; round < rounds; round += atOnce) {
      const made = await Promise.all(Array.from({ length: atOnce }, () => anApplication(business)));
      ends.push(...(await Promise.all(made.map((application, index) => play(application, round + index)))));
    }
    return ends;
  };

  test("a cancellation and a submission: the provider decides, and response, state and event agree", async () => {
    const ends = await race(async ({ id, link }, round) => {
      const submitting = () => tryToActOnLink(testSystem.system, link, "submit", { outcome: "approved" });
      // The first delays let one request win, the last delays the other one; those between are
      // close.
      if (round === 0) return { id, answer: await cancel(id), submitted: await submitting() };
      if (round === rounds - 1) return { id, submitted: await submitting(), answer: await cancel(id) };
      const [answer, submitted] = await Promise.all([cancel(id), after(round % 12).then(submitting)]);
      return { id, answer, submitted };
    });
    for (const { id, answer, submitted } of ends) {
      const { status } = await agreed(id);
      expect([200, 409]).toContain(answer.status);
      expect({ status, submitted }).toEqual(
        answer.status === 200 ? { status: "CANCELED", submitted: false } : { status: "COMPLETED", submitted: true },
      );
      expect(["kyc_in_progress", "kyc_application_final", undefined]).toContain(answer.body["code"]);
      expectTold(id, submitted ? "KYC_COMPLETED" : "KYC_CANCELED");
    }
    expect(ends.map(({ submitted }) => submitted)).toEqual(expect.arrayContaining([true, false]));
  });

  test("an expiry and a submission: the state of the provider is applied and published once", async () => {
    const ends = await race(async ({ id, link }, round) => {
      const submitting = () => tryToActOnLink(testSystem.system, link, "submit", { outcome: "rejected" });
      const expiring = () => tryToActOnLink(testSystem.system, link, "expire");
      const [first, second] = round % 2 ? [submitting, expiring] : [expiring, submitting];
      await Promise.all([first(), second()]);
      return id;
    });
    const states = new Set<string>();
    for (const id of ends) {
      const { status } = await agreed(id);
      states.add(status);
      expectTold(id, status === "EXPIRED" ? "KYC_EXPIRED" : "KYC_REJECTED");
    }
    expect([...states].sort()).toEqual(["COMPLETED", "EXPIRED"]);
  });
});

test("two kyc replicas emit one event for each fact and do not poll the same application", async () => {
  const { system } = testSystem;
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const second = serviceProcess({
    name: "kyc",
    env: { ...system.envOf("kyc"), RPC_PORT: String(port) },
    port,
    logDir: system.logDir,
    supervised: false,
    onCrash: () => {},
  });
  await second.start();
  stack.defer(() => second.stop());
  await system.services.gateway.stop();
  await system.services.gateway.start({ KYC_URLS: `${system.envOf("gateway")["KYC_URLS"]},http://127.0.0.1:${port}` });
  await system.ready();
  stack.defer(async () => {
    await system.services.gateway.stop();
    await system.services.gateway.start();
    await system.ready();
  });

  const idle = await Promise.all(Array.from({ length: 6 }, () => anApplication(business)));
  for (const { id } of idle) expectTold(id);
  await setFault(system, "kyc_callback", "duplicate", 10_000);
  const outcomes = {
    approved: "KYC_COMPLETED",
    rejected: "KYC_REJECTED",
    needs_review: "KYC_NEEDS_REVIEW",
    failed: "KYC_FAILED",
  };
  const busy = await Promise.all(
    Object.entries(outcomes).flatMap((end) =>
      Array.from({ length: 4 }, async () => ({ ...(await anApplication(business)), end })),
    ),
  );
  await Promise.all(busy.map(({ link, end }) => actOnLink(system, link, "submit", { outcome: end[0] })));
  for (const { id, end } of busy) {
    expectTold(id, end[1]);
    await waitForWebhook(business, end[1], id);
  }
  // While one replica waits for a slow response, the other one claims due rows.
  await setFault(system, "kyc_get", "slow:400", 10_000);
  for (const { id } of idle) {
    const pollTimes = await eventually(async () => {
      const { calls } = await readProviderView(system, id);
      const times = calls.filter(({ operation }) => operation === "kyc_get").map(({ at }) => Date.parse(at));
      expect(times.length).toBeGreaterThanOrEqual(4);
      return times;
    });
    // The intervals are 1, 1 and 2 seconds, for both replicas together.
    const pauses = pollTimes.slice(1).map((at, index) => at - (pollTimes[index] as number));
    expect(Math.min(...pauses)).toBeGreaterThan(500);
  }
  expect(second.running()).toBe(true);
});

test("while Kafka is restarted the API shows verdicts immediately, and each webhook is delivered once later", async () => {
  const made = await Promise.all(Array.from({ length: 4 }, () => anApplication(business)));
  for (const { id } of made) expectTold(id, "KYC_COMPLETED");
  const submit = ({ link }: Application) => actOnLink(testSystem.system, link, "submit", { outcome: "approved" });
  await testSystem.kafka?.stop();
  try {
    for (const application of made.slice(0, 3)) {
      await submit(application);
      await agreed(application.id);
      expect((await read(application.id))["verdict"]).toBe("APPROVED");
    }
    expect((await create("without-kafka")).status).toBe(201);
  } finally {
    await testSystem.kafka?.start();
  }
  await submit(made[3] as Application);
  for (const { id } of made) await waitForWebhook(business, "KYC_COMPLETED", id, 60_000);
  await expectOneFor("without-kafka");
});

/** Rows of identity's audit trail about an application. */
async function auditOf(id: string): Promise<Record<string, unknown>[]> {
  const identity = new Client({ connectionString: testSystem.system.databaseUrls["identity"] });
  await identity.connect();
  try {
    return (await identity.query("select * from audit_event where entity_id = $1", [id])).rows;
  } finally {
    await identity.end();
  }
}

test("an operator's review has one audit row with actor, values and reason, and one event", async () => {
  const { id, link } = await anApplication(business);
  expectTold(id, "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED");
  await actOnLink(testSystem.system, link, "submit", { outcome: "needs_review" });
  await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
  expect((await review(id, { "x-request-id": "review-request-1" }, "Seen in person.")).status).toBe(200);
  expect((await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id)).body["verdict"]).toBe("APPROVED");
  const rows = await eventually(async () => {
    const found = await auditOf(id);
    expect(found).not.toEqual([]);
    return found;
  });
  expect(rows).toEqual([
    expect.objectContaining({
      action: "kyc_application.reviewed",
      actor: testSystem.system.adminKey.slice(0, 16),
      entity_type: "kyc_application",
      business_id: business.id,
      before: { status: "COMPLETED", verdict: "NEEDS_REVIEW" },
      after: { status: "COMPLETED", verdict: "APPROVED", outcome: "APPROVED" },
      request_id: "review-request-1",
      reason: "Seen in person.",
    }),
  ]);
});

test("killed creations have one application each after their keys are no longer held", async () => {
  expect(orphaned).toHaveLength(1);
  for (const key of orphaned) await expectOneFor(key);
});

test("after all tests every event is exactly once in Kafka, in the event log and in the webhooks", async () => {
  await eventually(async () => expect((await kycDatabase.query("select id from outbox_waiting")).rows).toEqual([]));
  const { rows } = await kycDatabase.query<{ id: string }>("select id from kyc_application");
  expect(rows.map(({ id }) => id).sort()).toEqual([...expected.keys()].sort());
  const providerRows = queryProvider("select reference from kyc_application order by reference");
  expect(providerRows.map(({ reference }) => reference)).toEqual([...expected.keys()].sort());

  const facts = new Map<string, string>();
  for (const { topic, key, headers } of await readKafka(testSystem.kafka?.brokers ?? "")) {
    if (topic === "kyc.v1") facts.set(headers["ce_id"] ?? "", `${key} ${headers["ce_type"]}`);
  }
  const published = [...facts.values()].sort();
  // Steps can be skipped, but none is published twice, and each application was created once.
  expect(published.filter((fact, index) => fact === published[index - 1])).toEqual([]);
  for (const [id, kinds] of expected) {
    const ends = published
      .filter((fact) => fact.startsWith(id) && !/Opened|Submitted|Processing/.test(fact))
      .map(
        (fact) =>
          `KYC_${(fact.split(".").at(-1) ?? "")
            .replace("Kyc", "")
            .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
            .toUpperCase()}`,
      );
    expect(ends.sort(), id).toEqual(["KYC_CREATED", ...kinds].sort());
    await eventually(() => expect(webhookTypesOf(business, id)).toEqual(kinds));
  }
  const reviewed = [...expected].filter(([, kinds]) => kinds.includes("KYC_REVIEW_RESOLVED"));
  expect(reviewed).toHaveLength(2);
  for (const [id] of reviewed) expect(await auditOf(id), id).toHaveLength(1);
  expect(business.receiver.refused).toEqual([]);
});
