import { randomInt, randomUUID } from "node:crypto";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess, type ServiceProcess } from "@amana/dev-env/service-process";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { saveDetails, someAccount, someBeneficiary } from "../../src/clients-harness.ts";
import { aClient, actOnLink, anApplication } from "../../src/kyc-harness.ts";
import { readKafka } from "../../src/read-kafka.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
const databases: Record<string, Client> = {};

beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system, "Banque");
  for (const name of ["clients", "kyc", "identity"]) {
    databases[name] = new Client({ connectionString: testSystem.system.databaseUrls[name] });
    await databases[name].connect();
  }
});
afterAll(async () => {
  for (const database of Object.values(databases)) await database.end();
  await business?.receiver[Symbol.asyncDispose]();
});

const queryRows = async (name: "clients" | "kyc" | "identity", sql: string, values: unknown[] = []) =>
  (await databases[name]?.query(sql, values))?.rows ?? [];

const group = "clients.kyc.v1";
async function withKafka<T>(use: (admin: ReturnType<Kafka["admin"]>) => Promise<T>): Promise<T> {
  const admin = new Kafka({ brokers: testSystem.kafka?.brokers.split(",") ?? [], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

const outcomes = ["approved", "rejected", "needs_review", "failed", "expired", "held"] as const;

/**
 * Creates clients with details and two applications each. Returns functions that submit the
 * applications' verdicts. The verdict of a client's older application must have no effect.
 */
async function createClientsWithVerdicts(count: number): Promise<(() => Promise<unknown>)[]> {
  const verdicts: (() => Promise<unknown>)[] = [];
  const decide = (link: string, outcome: (typeof outcomes)[number] = "approved") => {
    if (outcome === "expired") return actOnLink(testSystem.system, link, "expire");
    if (outcome === "held") return actOnLink(testSystem.system, link, "open");
    return actOnLink(testSystem.system, link, "submit", { outcome });
  };
  for (let index = 0; index < count; index++) {
    const client_id = await aClient(business);
    await saveDetails(business, client_id);
    const older = await anApplication(business, { client_id, max_attempts: 1 });
    const newer = await anApplication(business, { client_id, max_attempts: 1 });
    verdicts.push(
      () => decide(newer.link, outcomes[index % outcomes.length]),
      () => decide(older.link, outcomes[(index + 1) % outcomes.length]),
    );
  }
  return verdicts;
}

/** Submits verdicts in order. Before the verdict at an index, injects the fault at this index. */
async function submitVerdicts(
  verdicts: (() => Promise<unknown>)[],
  faults: Record<number, () => Promise<unknown>> = {},
): Promise<void> {
  for (const [index, verdict] of verdicts.entries()) {
    await faults[index]?.();
    await verdict();
  }
}

const newestSql = `select distinct on (client_id) client_id, id, status, verdict, attempts_used < max_attempts as retries, revision
  from kyc_application where client_id is not null order by client_id, created_at desc, id desc`;

const kycStatusOf = ({ status, verdict }: Record<string, unknown>) => {
  if (status === "COMPLETED")
    return { APPROVED: "VALIDATED", REJECTED: "DECLINED", NEEDS_REVIEW: "PENDING_REVIEW" }[String(verdict)];
  if (status === "CREATED") return "CREATED";
  return ["EXPIRED", "CANCELED", "FAILED"].includes(String(status)) ? "ABORTED" : "PROCESSING";
};
const stepOf: Record<string, string> = {
  CREATED: "KYC_PENDING",
  ABORTED: "KYC_PENDING",
  PROCESSING: "KYC_PROCESSING",
  PENDING_REVIEW: "KYC_UNDER_REVIEW",
  DECLINED: "KYC_DECLINED",
  VALIDATED: "APPROVED",
};

/** Waits until every client has the state of its newest application. */
const expectStatesOfNewestApplications = () =>
  eventually(async () => {
    expect(await queryRows("kyc", "select id from outbox_waiting")).toEqual([]);
    const newest = (await queryRows("kyc", newestSql)).map((row) => {
      const kycStatus = kycStatusOf(row) ?? "none";
      return {
        id: row.client_id,
        verification: row.id,
        client: kycStatus,
        onboarding: kycStatus,
        step: stepOf[kycStatus],
        revision: row.revision,
      };
    });
    const actual = await queryRows(
      "clients",
      `select c.id, o.verification_id as verification, c.kyc_status as client, o.kyc_status as onboarding, o.step, o.verification_revision as revision
       from client c join onboarding o on o.client_id = c.id where o.verification_id is not null order by c.id`,
    );
    expect(actual).toEqual(newest);
  });

const readApprovals = () =>
  queryRows("identity", "select entity_id from audit_event where action = 'onboarding.approved' order by entity_id");

async function killAndRestart(service: ServiceProcess = testSystem.system.services.clients): Promise<void> {
  await service.kill();
  await service.start();
}

describe("the clients service while verdicts arrive", () => {
  test("the clients service applies each verdict once when the service is killed at random times, or after its commit and before it stores its Kafka offset", async () => {
    const { clients } = testSystem.system.services;
    const verdicts = await createClientsWithVerdicts(12);
    await expectStatesOfNewestApplications();
    await clients.kill();
    await clients.start({ FAULT_POINT: "consumer.committed" });
    await submitVerdicts(verdicts.splice(0, 6));
    await eventually(() => expect(clients.isRunning(), "clients reached consumer.committed").toBe(false));
    await clients.start();
    // Submits verdicts while the service is killed and restarted. Only one kill runs at a time.
    let killing = Promise.resolve();
    const killSoon = async () => {
      killing = killing.then(() => killAndRestart());
    };
    await submitVerdicts(verdicts, Object.fromEntries([0, 6, 12].map((from) => [from + randomInt(6), killSoon])));
    await killing;
    await testSystem.system.waitUntilReady();
    await expectStatesOfNewestApplications();
  });

  test("the clients service applies each verdict once when one of its two replicas is killed", async () => {
    const { system } = testSystem;
    await using stack = new AsyncDisposableStack();
    const port = await freePort();
    const secondReplica = createServiceProcess({
      name: "clients",
      env: { ...system.envOf("clients"), RPC_PORT: String(port) },
      port,
      logDir: system.logDir,
      supervised: false,
      onCrash: () => {},
    });
    await secondReplica.start();
    stack.defer(() => secondReplica.stop());
    const verdicts = await createClientsWithVerdicts(8);
    await eventually(async () => {
      const { groups } = await withKafka((admin) => admin.describeGroups([group]));
      expect([groups[0]?.state, groups[0]?.members.length]).toEqual(["Stable", 2]);
    });
    await submitVerdicts(verdicts, { 8: () => system.services.clients.kill() });
    await expectStatesOfNewestApplications();
    expect(secondReplica.isRunning()).toBe(true);
    await system.services.clients.start();
    await system.waitUntilReady();
  });

  test("the clients service responds while Kafka is stopped, and applies all verdicts after Kafka starts again", async () => {
    const verdicts = await createClientsWithVerdicts(6);
    await expectStatesOfNewestApplications();
    await testSystem.kafka?.stop();
    try {
      await submitVerdicts(verdicts.slice(0, 8));
      const { status } = await business.call("GET", "/api/v1/clients?kyc_status=CREATED");
      expect(status).toBe(200);
      expect(
        (await business.call("POST", "/api/v1/accounts", { ...someAccount, client_id: await aClient(business) })).status,
      ).toBe(201);
    } finally {
      await testSystem.kafka?.start();
    }
    await submitVerdicts(verdicts.slice(8));
    await expectStatesOfNewestApplications();
  });

  test("the clients service changes no client or onboarding when Kafka delivers all messages again after the service's inbox was emptied", async () => {
    const { clients } = testSystem.system.services;
    const readState = async () => [
      await queryRows("clients", "select to_jsonb(c) as row from client c order by id"),
      await queryRows("clients", "select to_jsonb(o) as row from onboarding o order by id"),
      await queryRows("clients", "select to_jsonb(d) as row from onboarding_details d order by id"),
      await readApprovals(),
    ];
    const readConsumed = () => queryRows("clients", "select event_id from inbox where consumer = 'clients' order by event_id");
    await eventually(async () => expect(await queryRows("clients", "select id from outbox_waiting")).toEqual([]));
    await eventually(async () => {
      const approved = await queryRows(
        "clients",
        "select id as entity_id from onboarding where decision = 'APPROVED' order by id",
      );
      expect(await readApprovals()).toEqual(approved);
    });
    const [stateBefore, consumedBefore] = [await readState(), await readConsumed()];
    const topic = (await readKafka(testSystem.kafka?.brokers ?? "")).filter((message) => message.topic === "kyc.v1");
    expect([...new Set(topic.map(({ headers }) => headers["ce_id"]))].sort()).toEqual(
      consumedBefore.map(({ event_id }) => event_id),
    );
    await clients.stop();
    // Uses the owner's role, because a service's role is not permitted to delete inbox rows.
    const owner = new Client({ connectionString: testSystem.system.ownerDatabaseUrls["clients"] });
    await owner.connect();
    await owner.query("delete from inbox").finally(() => owner.end());
    await withKafka((admin) => admin.deleteGroups([group]));
    await clients.start();
    await testSystem.system.waitUntilReady();
    await eventually(async () => expect(await readConsumed()).toEqual(consumedBefore));
    await eventually(async () => expect(await queryRows("clients", "select id from outbox_waiting")).toEqual([]));
    expect(await readState()).toEqual(stateBefore);
    await expectStatesOfNewestApplications();
  });
});

test("the clients service creates one row for each Idempotency-Key when it is killed during 40 creations", async () => {
  const clientIds = [await aClient(business), await aClient(business)];
  // This transaction locks the row of the second client. Six creations for this client wait for the
  // lock, so that not all creations can end before the service is killed. They use fewer
  // connections than a business may use, so that the other creations can continue.
  const owner = new Client({ connectionString: testSystem.system.ownerDatabaseUrls["clients"] });
  await owner.connect();
  await owner.query("begin");
  await owner.query("select from client where id = $1 for update", [clientIds[1]]);
  const creations = Array.from({ length: 40 }, (_, index) => {
    const name = `keyed-${index}-${randomUUID()}`;
    const client_id = clientIds[index < 6 ? 1 : 0];
    const [path, body] =
      index % 2
        ? ["/api/v1/accounts", { ...someAccount, client_id, account_name: name }]
        : ["/api/v1/beneficiaries", { ...someBeneficiary, client_id, name }];
    return { name, create: () => business.call("POST", path, body, { "idempotency-key": name }) };
  });
  let createdCount = 0;
  const firstResponse = Promise.withResolvers<void>();
  const responses = Promise.all(
    creations.map(async ({ create }) => {
      const response = await create();
      if (response.status === 201) createdCount++;
      firstResponse.resolve();
      return response;
    }),
  );
  await firstResponse.promise;
  await testSystem.system.services.clients.kill();
  expect(createdCount).toBeLessThan(creations.length);
  await owner.end();
  await testSystem.system.services.clients.start();
  await testSystem.system.waitUntilReady();
  for (const { status } of await responses) expect([201, 409, 500, 502, 503, 504]).toContain(status);
  for (const [index, { name, create }] of creations.entries()) {
    const repeated = await eventually(async () => {
      const response = await create();
      expect(response.status, response.text).toBe(201);
      return response;
    });
    const first = (await responses)[index];
    if (first?.status === 201) expect(repeated.text).toBe(first.text);
    const rows = await queryRows(
      "clients",
      "select id from account where account_name = $1 union all select id from beneficiary where name = $1",
      [name],
    );
    expect(rows).toEqual([{ id: repeated.body["id"] }]);
  }
});

test("POST /accounts opens no account for a client that is already blocked, and every account with a 201 response exists", async () => {
  const makeRoundTrip = async () => (await request(`${testSystem.system.sandboxUrl}/healthz`)).body.dump();
  const opensMax = 50;
  const accountsOf = async (clientId: string) =>
    (await queryRows("clients", "select id from account where client_id = $1 order by id", [clientId])).map(({ id }) =>
      String(id),
    );
  const clients: string[] = [];
  while (clients.length < 30) clients.push(await aClient(business));
  const rounds = await Promise.all(
    clients.map(async (client_id, round) => {
      let blockedAtMs = Number.POSITIVE_INFINITY;
      const openedAfterBlock: string[] = [];
      const open = async (): Promise<unknown> => {
        const sentAtMs = performance.now();
        const { status, body } = await business.call("POST", "/api/v1/accounts", { ...someAccount, client_id });
        // A call that times out in the fair queue of its business has no effect. The test repeats
        // such a call.
        if (body["code"] === "overloaded") return await open();
        if (status !== 201) return body["code"];
        if (sentAtMs > blockedAtMs) openedAfterBlock.push(String(body["id"]));
        return { id: String(body["id"]) };
      };
      const openUntilBlocked = async () => {
        const opened: string[] = [];
        for (let opens = 0; opens < opensMax; opens++) {
          const response = await open();
          if (typeof response !== "object" || response === null) {
            expect(response).toBe("client_blocked");
            return opened;
          }
          opened.push((response as { id: string }).id);
        }
        throw new Error("The client was blocked, but accounts could still be opened.");
      };
      const block = async () => {
        for (let trips = 0; trips < round; trips++) await makeRoundTrip();
        const send = () => business.call("PUT", `/api/v1/clients/person/${client_id}`, { blocked: true });
        let response = await send();
        while (response.body["code"] === "overloaded") response = await send();
        blockedAtMs = performance.now();
        expect(response.status, response.text).toBe(200);
        return { rows: await accountsOf(client_id), laterOpenings: await Promise.all([open(), open()]) };
      };
      const [blocked, ...opened] = await Promise.all([block(), openUntilBlocked(), openUntilBlocked(), openUntilBlocked()]);
      expect(blocked.laterOpenings).toEqual(["client_blocked", "client_blocked"]);
      expect(openedAfterBlock).toEqual([]);
      const rows = await accountsOf(client_id);
      expect(rows).toEqual(opened.flat().sort());
      // The database still has the accounts that it had when the block was confirmed.
      expect(rows).toEqual(blocked.rows);
      return rows.length;
    }),
  );
  // In at least one round, accounts were opened before the block.
  expect(Math.max(...rounds)).toBeGreaterThan(0);
});

test("the clients service after the crash tests has no dead-lettered message, one audit row for each approval, and list totals that match its rows", async () => {
  expect(await queryRows("clients", "select reason from dead_letter where status <> 'DELIVERED'")).toEqual([]);
  const approved = await queryRows("clients", "select id as entity_id from onboarding where decision = 'APPROVED' order by id");
  expect(approved.length).toBeGreaterThan(0);
  expect(await readApprovals()).toEqual(approved);
  for (const status of ["CREATED", "VALIDATED", "DECLINED", "PENDING_REVIEW", "ABORTED", "PROCESSING", "NOT_STARTED"]) {
    const { headers } = await business.call("GET", `/api/v1/clients?kyc_status=${status}`);
    const [row] = await queryRows("clients", "select count(*) from client where kyc_status = $1", [status]);
    expect([status, headers["x-total-count"]]).toEqual([status, row.count]);
  }
});
