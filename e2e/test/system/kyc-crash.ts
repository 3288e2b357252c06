import { createHmac, randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess } from "@amana/dev-env/service-process";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Application,
  actOnLink,
  anApplication,
  applicationsPath,
  clearFaults,
  kycEventTypes,
  readProviderView,
  setFault,
  tryToActOnLink,
  waitForCallbacks,
  waitForWebhook,
  webhookTypesOf,
} from "../../src/kyc-harness.ts";
import { readKafka } from "../../src/read-kafka.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let kycDatabase: Client;

beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system, "Banque", kycEventTypes);
  kycDatabase = new Client({ connectionString: testSystem.system.databaseUrls["kyc"] });
  await kycDatabase.connect();
});
afterEach(() => clearFaults(testSystem.system));
afterAll(async () => {
  await kycDatabase?.end();
  await business?.receiver[Symbol.asyncDispose]();
});

/** Expected event types of each application. The last test compares them with the webhooks. */
const expectedWebhooks = new Map<string, string[]>();
const expectWebhooks = (id: string, ...kinds: string[]) => expectedWebhooks.set(id, kinds.sort());

const create = (key: string) => business.call("POST", applicationsPath, { external_id: key }, { "idempotency-key": key });
const read = async (id: string) => (await business.call("GET", `${applicationsPath}/${id}`)).body;
const cancel = (id: string, headers = {}) => business.call("POST", `${applicationsPath}/${id}/cancel`, undefined, headers);
const countApplications = async (externalId: string) =>
  (await business.call("GET", `${applicationsPath}?external_id=${externalId}`)).headers["x-total-count"];
const review = (id: string, headers = {}, note = "Another date of birth.") =>
  apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey)(
    "POST",
    `${applicationsPath}/${id}/review`,
    { outcome: "APPROVED", note },
    headers,
  );
const readRow = async (id: string) =>
  (await kycDatabase.query("select to_jsonb(a) as row from kyc_application a where id = $1", [id])).rows[0]?.row;

/** Waits until kyc has stored the provider's status of an application. */
const waitForProviderState = (id: string) =>
  eventually(async () => {
    const [stored, atProvider] = [await readRow(id), await readProviderView(testSystem.system, id)];
    expect(stored?.status).toBe(atProvider.status);
    return atProvider;
  });

/**
 * Restarts kyc so that it kills itself at `faultPoint`. Then runs `action`, waits until kyc has
 * ended, and starts kyc again.
 */
async function killAt(faultPoint: string, action: () => Promise<unknown>): Promise<void> {
  const { kyc } = testSystem.system.services;
  // Waits for pending callbacks, because a late callback could kill kyc before `action` runs.
  await eventually(() => expect(queryProvider("select id from kyc_callback where state = 'pending'")).toEqual([]));
  await kyc.kill();
  try {
    await kyc.start({ FAULT_POINT: faultPoint });
    await testSystem.system.waitUntilReady();
    await action();
    await eventually(() => expect(kyc.isRunning(), `kyc reached ${faultPoint}`).toBe(false));
  } finally {
    await kyc.kill();
    await kyc.start();
    await testSystem.system.waitUntilReady();
  }
}

function queryProvider(sql: string): Record<string, unknown>[] {
  const dir = testSystem.system.envOf("sandbox")["SANDBOX_DATA_DIR"] ?? "";
  using database = new DatabaseSync(join(dir, "sandbox.sqlite"), { readOnly: true });
  return database.prepare(sql).all();
}

/**
 * Waits until a creation with this key succeeds. Expects one application in Amana's list and the
 * same response to a repeated creation.
 */
async function expectOneApplication(key: string): Promise<Application> {
  const repeated = await eventually(async () => {
    const response = await create(key);
    expect(response.status, response.text).toBe(201);
    return response;
  });
  expect(await countApplications(key)).toBe("1");
  const id = String(repeated.body["id"]);
  expect((await create(key)).text).toBe(repeated.text);
  expectWebhooks(id);
  return { id, link: String(repeated.body["link_url"]) };
}

/**
 * Idempotency-Keys of creations during which kyc was killed. Such a key stays claimed until the
 * deadline of its request.
 */
const killedKeys: string[] = [];

/**
 * Tests one kill for each guarantee in a complete system. services/kyc/test/crash.test.ts tests
 * every fault point, without the other services.
 */
describe("the kyc service killed with SIGKILL", () => {
  test.each(["application.linked"])(
    "kyc stores no application, and the Idempotency-Key stays claimed, if kyc is killed at %s before the commit of a creation",
    async (faultPoint) => {
      const key = `killed-${faultPoint}`;
      await killAt(faultPoint, async () => expect((await create(key)).status).toBeGreaterThanOrEqual(500));
      expect(await countApplications(key)).toBe("0");
      const repeated = await create(key);
      expect([repeated.status, repeated.body["code"]]).toEqual([409, "idempotency_in_progress"]);
      killedKeys.push(key);
    },
  );

  test.each(["cancel.committed"])(
    "kyc returns CANCELED to a retry and emits one event if kyc is killed at %s during a cancellation",
    async (faultPoint) => {
      const { id } = await anApplication(business);
      expectWebhooks(id, "KYC_CANCELED");
      const key = { "idempotency-key": randomUUID() };
      await killAt(faultPoint, async () => expect((await cancel(id, key)).status).toBeGreaterThanOrEqual(500));
      const response = await cancel(id, key);
      expect([response.status, response.body["status"]]).toEqual([200, "CANCELED"]);
      expect((await cancel(id, key)).text).toBe(response.text);
      await waitForWebhook(business, "KYC_CANCELED", id);
    },
  );

  test.each(["callback.committed"])(
    "the provider sends a callback again if kyc is killed at %s during the callback, and kyc applies the callback once",
    async (faultPoint) => {
      const { id, link } = await anApplication(business);
      expectWebhooks(id, "KYC_REJECTED");
      await killAt(faultPoint, () => actOnLink(testSystem.system, link, "submit", { outcome: "rejected" }));
      await waitForWebhook(business, "KYC_REJECTED", id);
      await waitForCallbacks(testSystem.system, id);
    },
  );

  test.each(["kyc_review.answered"])(
    "kyc applies, publishes and audits a review once if kyc is killed at %s, and returns the review's result to a retry with the same Idempotency-Key",
    async (faultPoint) => {
      const { id, link } = await anApplication(business);
      expectWebhooks(id, "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED");
      await actOnLink(testSystem.system, link, "submit", { outcome: "needs_review" });
      await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
      const key = { "idempotency-key": randomUUID() };
      await killAt(faultPoint, async () => expect((await review(id, key)).status).toBeGreaterThanOrEqual(500));
      await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id);
      const response = await review(id, key);
      expect([response.status, response.body["verdict"]]).toEqual([200, "APPROVED"]);
      await eventually(async () => expect(await readAuditRows(id)).toHaveLength(1));
    },
  );
});

describe("the creation of a KYC application while the provider is down", () => {
  test.each(["http_503", "timeout_before"])(
    "POST /kyc/applications returns status 503 during the provider fault %s, and a later retry with the same Idempotency-Key creates one application",
    async (mode) => {
      const key = `down-${mode}`;
      await setFault(testSystem.system, "kyc_create", mode, 100);
      const response = await create(key);
      expect([response.status, response.body["code"]]).toEqual([503, "kyc_provider_unavailable"]);
      expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
      expect(await countApplications(key)).toBe("0");
      await clearFaults(testSystem.system);
      await expectOneApplication(key);
    },
  );

  test("POST /kyc/applications and POST /kyc/applications/{id}/cancel return status 503 while the provider is stopped", async () => {
    const { id } = await anApplication(business);
    expectWebhooks(id, "KYC_CANCELED");
    await testSystem.system.services.sandbox.stop();
    try {
      const response = await create("stopped");
      expect([response.status, Number(response.headers["retry-after"]) > 0]).toEqual([503, true]);
      expect(await countApplications("stopped")).toBe("0");
      expect((await cancel(id)).status).toBe(503);
      expect(await read(id)).toMatchObject({ status: "CREATED" });
    } finally {
      await testSystem.system.services.sandbox.start();
    }
    await expectOneApplication("stopped");
    expect((await cancel(id)).status).toBe(200);
  });

  test("POST /kyc/applications creates one application if the provider responds so slowly that kyc repeats the call", async () => {
    for (const mode of ["slow:200", "slow:1000"]) {
      await setFault(testSystem.system, "kyc_create", mode);
      const first = await create(mode.replace(":", "-"));
      expect(first.status).toBe(201);
      expect((await expectOneApplication(mode.replace(":", "-"))).id).toBe(first.body["id"]);
    }
  });
});

describe("callbacks of the provider", () => {
  test.each([
    ["drop", 4],
    ["duplicate", 4],
    ["reorder", 3],
    ["bad_signature", 4],
    ["reset_after", 4],
    ["truncated", 4],
    ["http_500", 6],
  ])(
    "kyc emits one KYC_NEEDS_REVIEW, at the latest after its next poll, if the provider's callbacks have the fault %s",
    async (mode, times) => {
      const { id, link } = await anApplication(business);
      expectWebhooks(id, "KYC_NEEDS_REVIEW");
      await setFault(testSystem.system, "kyc_callback", mode, times);
      await actOnLink(testSystem.system, link, "submit", { outcome: "approved", aml_hit_count: 1 });
      await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
      await waitForCallbacks(testSystem.system, id);
    },
  );

  test("POST /callbacks/kyc returns status 401 and changes nothing if the signature is forged or the timestamp is more than five minutes from the current time", async () => {
    const { id, link } = await anApplication(business);
    expectWebhooks(id, "KYC_COMPLETED");
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
      const response = await request(`${testSystem.system.gatewayUrl}/callbacks/kyc`, { method: "POST", body, headers });
      await response.body.dump();
      return response.statusCode;
    };
    const renamed = JSON.stringify({ ...event, event_id: randomUUID() });
    const readState = async () => [await readRow(id), (await kycDatabase.query("select count(*) from provider_event")).rows];
    const stateBefore = await readState();
    const statuses = [
      await deliver(genuine, secret, 360),
      await deliver(renamed, secret, 301),
      await deliver(renamed, secret, -360),
      await deliver(renamed, `not ${secret}`),
      await deliver(renamed, secret, 0, genuine),
      await post(renamed, {}),
      await post(renamed, { "x-provider-signature": "t=,v1=" }),
    ];
    expect(statuses).toEqual(Array(statuses.length).fill(401));
    expect(await readState()).toEqual(stateBefore);
    // The same body with a valid signature is accepted.
    expect(await deliver(renamed)).toBe(204);
    expect(await readState()).not.toEqual(stateBefore);
  });
});

describe("concurrent changes of a KYC application", () => {
  const rounds = 24;
  const roundsAtOnce = 8;
  /** Waits for a number of HTTP round trips, to vary the order of two concurrent requests. */
  const delay = async (trips: number) => {
    for (let trip = 0; trip < trips; trip++) await (await request(`${testSystem.system.sandboxUrl}/healthz`)).body.dump();
  };

  /** Runs `roundsAtOnce` rounds in parallel. With more, calls to the provider would time out. */
  const runRounds = async <T>(play: (application: Application, round: number) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (let round = 0; round < rounds; round += roundsAtOnce) {
      const created = await Promise.all(Array.from({ length: roundsAtOnce }, () => anApplication(business)));
      results.push(...(await Promise.all(created.map((application, index) => play(application, round + index)))));
    }
    return results;
  };

  test("kyc's response, stored state and event match the provider's state after a concurrent cancellation and submission of an application", async () => {
    const results = await runRounds(async ({ id, link }, round) => {
      const submit = () => tryToActOnLink(testSystem.system, link, "submit", { outcome: "approved" });
      // In the first round, the cancellation is sent first. In the last round, the submission is
      // sent first. In the other rounds, both are sent at nearly the same time.
      if (round === 0) return { id, response: await cancel(id), submitted: await submit() };
      if (round === rounds - 1) return { id, submitted: await submit(), response: await cancel(id) };
      const [response, submitted] = await Promise.all([cancel(id), delay(round % 12).then(submit)]);
      return { id, response, submitted };
    });
    for (const { id, response, submitted } of results) {
      const { status } = await waitForProviderState(id);
      expect([200, 409]).toContain(response.status);
      expect({ status, submitted }).toEqual(
        response.status === 200 ? { status: "CANCELED", submitted: false } : { status: "COMPLETED", submitted: true },
      );
      expect(["kyc_in_progress", "kyc_application_final", undefined]).toContain(response.body["code"]);
      expectWebhooks(id, submitted ? "KYC_COMPLETED" : "KYC_CANCELED");
    }
    expect(results.map(({ submitted }) => submitted)).toEqual(expect.arrayContaining([true, false]));
  });

  test("kyc stores the provider's state and emits one event after a concurrent expiry and submission of an application", async () => {
    const results = await runRounds(async ({ id, link }, round) => {
      const submit = () => tryToActOnLink(testSystem.system, link, "submit", { outcome: "rejected" });
      const expire = () => tryToActOnLink(testSystem.system, link, "expire");
      const [first, second] = round % 2 ? [submit, expire] : [expire, submit];
      await Promise.all([first(), second()]);
      return id;
    });
    const states = new Set<string>();
    for (const id of results) {
      const { status } = await waitForProviderState(id);
      states.add(status);
      expectWebhooks(id, status === "EXPIRED" ? "KYC_EXPIRED" : "KYC_REJECTED");
    }
    expect([...states].sort()).toEqual(["COMPLETED", "EXPIRED"]);
  });
});

test("kyc with two replicas emits one event for each change, and polls each application from one replica at a time", async () => {
  const { system } = testSystem;
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const secondReplica = createServiceProcess({
    name: "kyc",
    env: { ...system.envOf("kyc"), RPC_PORT: String(port) },
    port,
    logDir: system.logDir,
    supervised: false,
    onCrash: () => {},
  });
  await secondReplica.start();
  stack.defer(() => secondReplica.stop());
  await system.services.gateway.stop();
  await system.services.gateway.start({ KYC_URLS: `${system.envOf("gateway")["KYC_URLS"]},http://127.0.0.1:${port}` });
  await system.waitUntilReady();
  stack.defer(async () => {
    await system.services.gateway.stop();
    await system.services.gateway.start();
    await system.waitUntilReady();
  });

  const unopened = await Promise.all(Array.from({ length: 6 }, () => anApplication(business)));
  for (const { id } of unopened) expectWebhooks(id);
  await setFault(system, "kyc_callback", "duplicate", 10_000);
  const outcomes = {
    approved: "KYC_COMPLETED",
    rejected: "KYC_REJECTED",
    needs_review: "KYC_NEEDS_REVIEW",
    failed: "KYC_FAILED",
  };
  const submitted = await Promise.all(
    Object.entries(outcomes).flatMap((end) =>
      Array.from({ length: 4 }, async () => ({ ...(await anApplication(business)), end })),
    ),
  );
  await Promise.all(submitted.map(({ link, end }) => actOnLink(system, link, "submit", { outcome: end[0] })));
  for (const { id, end } of submitted) {
    expectWebhooks(id, end[1]);
    await waitForWebhook(business, end[1], id);
  }
  // The provider is slow, so that one replica claims due rows while the other replica waits for a
  // response.
  await setFault(system, "kyc_get", "slow:400", 10_000);
  for (const { id } of unopened) {
    const pollTimes = await eventually(async () => {
      const { calls } = await readProviderView(system, id);
      const times = calls.filter(({ operation }) => operation === "kyc_get").map(({ at }) => Date.parse(at));
      expect(times.length).toBeGreaterThanOrEqual(4);
      return times;
    });
    // Both replicas together poll an application at intervals of 1, 1 and 2 seconds.
    const pauses = pollTimes.slice(1).map((at, index) => at - (pollTimes[index] as number));
    expect(Math.min(...pauses)).toBeGreaterThan(500);
  }
  expect(secondReplica.isRunning()).toBe(true);
});

test("the API returns KYC verdicts while Kafka is stopped, and each webhook is delivered once after Kafka has started again", async () => {
  const created = await Promise.all(Array.from({ length: 4 }, () => anApplication(business)));
  for (const { id } of created) expectWebhooks(id, "KYC_COMPLETED");
  const submit = ({ link }: Application) => actOnLink(testSystem.system, link, "submit", { outcome: "approved" });
  await testSystem.kafka?.stop();
  try {
    for (const application of created.slice(0, 3)) {
      await submit(application);
      await waitForProviderState(application.id);
      expect((await read(application.id))["verdict"]).toBe("APPROVED");
    }
    expect((await create("without-kafka")).status).toBe(201);
  } finally {
    await testSystem.kafka?.start();
  }
  await submit(created[3] as Application);
  for (const { id } of created) await waitForWebhook(business, "KYC_COMPLETED", id, 60_000);
  await expectOneApplication("without-kafka");
});

/** Returns the audit rows of an application. */
async function readAuditRows(id: string): Promise<Record<string, unknown>[]> {
  const identity = new Client({ connectionString: testSystem.system.databaseUrls["identity"] });
  await identity.connect();
  try {
    return (await identity.query("select * from audit_event where entity_id = $1", [id])).rows;
  } finally {
    await identity.end();
  }
}

test("an operator's review of a KYC application adds one event, and one audit row with actor, values and reason", async () => {
  const { id, link } = await anApplication(business);
  expectWebhooks(id, "KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED");
  await actOnLink(testSystem.system, link, "submit", { outcome: "needs_review" });
  await waitForWebhook(business, "KYC_NEEDS_REVIEW", id);
  expect((await review(id, { "x-request-id": "review-request-1" }, "Seen in person.")).status).toBe(200);
  expect((await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id)).body["verdict"]).toBe("APPROVED");
  const rows = await eventually(async () => {
    const auditRows = await readAuditRows(id);
    expect(auditRows).not.toEqual([]);
    return auditRows;
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

test("POST /kyc/applications, repeated after kyc was killed during the first request, creates one application when the Idempotency-Key is no longer claimed", async () => {
  expect(killedKeys).toHaveLength(1);
  for (const key of killedKeys) await expectOneApplication(key);
});

test("Kafka contains each event of kyc once, and the business has received each event once by webhook, after all crash tests of kyc", async () => {
  await eventually(async () => expect((await kycDatabase.query("select id from outbox_waiting")).rows).toEqual([]));
  const { rows } = await kycDatabase.query<{ id: string }>("select id from kyc_application");
  expect(rows.map(({ id }) => id).sort()).toEqual([...expectedWebhooks.keys()].sort());
  const providerRows = queryProvider("select reference from kyc_application order by reference");
  expect(providerRows.map(({ reference }) => reference)).toEqual([...expectedWebhooks.keys()].sort());

  const changes = new Map<string, string>();
  for (const { topic, key, headers } of await readKafka(testSystem.kafka?.brokers ?? "")) {
    if (topic === "kyc.v1") changes.set(headers["ce_id"] ?? "", `${key} ${headers["ce_type"]}`);
  }
  const published = [...changes.values()].sort();
  // kyc may skip a step of an application, but does not publish a step twice.
  expect(published.filter((change, index) => change === published[index - 1])).toEqual([]);
  for (const [id, kinds] of expectedWebhooks) {
    const finalEvents = published
      .filter((change) => change.startsWith(id) && !/Opened|Submitted|Processing/.test(change))
      .map(
        (change) =>
          `KYC_${(change.split(".").at(-1) ?? "")
            .replace("Kyc", "")
            .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
            .toUpperCase()}`,
      );
    expect(finalEvents.sort(), id).toEqual(["KYC_CREATED", ...kinds].sort());
    await eventually(() => expect(webhookTypesOf(business, id)).toEqual(kinds));
  }
  const reviewed = [...expectedWebhooks].filter(([, kinds]) => kinds.includes("KYC_REVIEW_RESOLVED"));
  expect(reviewed).toHaveLength(2);
  for (const [id] of reviewed) expect(await readAuditRows(id), id).toHaveLength(1);
  expect(business.receiver.refused).toEqual([]);
});
