import { randomInt, randomUUID } from "node:crypto";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import { Kafka, logLevel } from "kafkajs";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { saveDetails, someAccount, someBeneficiary } from "../../src/clients-harness.ts";
import { aClient, anApplication, actOnLink } from "../../src/kyc-harness.ts";
import { readKafka } from "../../src/read-kafka.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
const databases: Record<string, Client> = {};

beforeAll(async () => {
  // Onboardings are approved automatically, so a verdict that is applied twice has two rows in the
  // audit trail.
  testSystem = await startTestSystem("kafka", { clients: { ONBOARDING_AUTO_APPROVE: "true" } });
  business = await aBusiness(testSystem.system, "Banque");
  for (const name of ["clients", "kyc", "identity"]) {
    databases[name] = new Client({ connectionString: testSystem.system.databaseUrls[name] });
    await databases[name].connect();
  }
});
afterAll(async () => {
  for (const database of Object.values(databases)) await database.end();
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

const rowsOf = async (name: "clients" | "kyc" | "identity", sql: string, values: unknown[] = []) =>
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

const submissions = ["approved", "rejected", "needs_review", "failed", "expired", "held"] as const;

/**
 * Creates clients with details and two applications each. The older application must have no effect
 * in the end.
 */
async function someClients(count: number): Promise<(() => Promise<unknown>)[]> {
  const made = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const client_id = await aClient(business);
      await saveDetails(business, client_id);
      const [older, newer] = [
        await anApplication(business, { client_id, max_attempts: 1 }),
        await anApplication(business, { client_id, max_attempts: 1 }),
      ];
      const act = (link: string, outcome: (typeof submissions)[number] = "approved") => {
        if (outcome === "expired") return actOnLink(testSystem.system, link, "expire");
        if (outcome === "held") return actOnLink(testSystem.system, link, "open");
        return actOnLink(testSystem.system, link, "submit", { outcome });
      };
      return [
        () => act(newer.link, submissions[index % submissions.length]),
        () => act(older.link, submissions[(index + 1) % submissions.length]),
      ];
    }),
  );
  return made.flat();
}

/** Submits verdicts and injects a fault before some of them. */
async function stream(verdicts: (() => Promise<unknown>)[], at: Record<number, () => Promise<unknown>> = {}): Promise<void> {
  for (const [index, verdict] of verdicts.entries()) {
    await at[index]?.();
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
const expectAgreed = () =>
  eventually(async () => {
    expect(await rowsOf("kyc", "select id from outbox_waiting")).toEqual([]);
    const newest = (await rowsOf("kyc", newestSql)).map((row) => {
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
    const actual = await rowsOf(
      "clients",
      `select c.id, o.verification_id as verification, c.kyc_status as client, o.kyc_status as onboarding, o.step, o.verification_revision as revision
       from client c join onboarding o on o.client_id = c.id where o.verification_id is not null order by c.id`,
    );
    expect(actual).toEqual(newest);
  });

const approvals = () =>
  rowsOf("identity", "select entity_id from audit_event where action = 'onboarding.approved' order by entity_id");

async function kill(service: ServiceProcess = testSystem.system.services.clients): Promise<void> {
  await service.kill();
  await service.start();
}

describe("during verdicts, clients", () => {
  test("applies each verdict once after kills between commit and offset, and at random times", async () => {
    const { clients } = testSystem.system.services;
    const verdicts = await someClients(12);
    await expectAgreed();
    await clients.kill();
    await clients.start({ FAULT_POINT: "consumer.committed" });
    await stream(verdicts.splice(0, 6));
    await eventually(() => expect(clients.running(), "clients reached consumer.committed").toBe(false));
    await clients.start();
    // Verdicts continue while the kills run one after another.
    let killing = Promise.resolve();
    const killSoon = async () => {
      killing = killing.then(() => kill());
    };
    await stream(verdicts, Object.fromEntries([0, 6, 12].map((from) => [from + randomInt(6), killSoon])));
    await killing;
    await testSystem.system.ready();
    await expectAgreed();
  });

  test("applies each verdict once with two replicas of which one is killed", async () => {
    const { system } = testSystem;
    await using stack = new AsyncDisposableStack();
    const port = await freePort();
    const second = serviceProcess({
      name: "clients",
      env: { ...system.envOf("clients"), RPC_PORT: String(port) },
      port,
      logDir: system.logDir,
      supervised: false,
      onCrash: () => {},
    });
    await second.start();
    stack.defer(() => second.stop());
    const verdicts = await someClients(8);
    await eventually(async () => {
      const { groups } = await withKafka((admin) => admin.describeGroups([group]));
      expect([groups[0]?.state, groups[0]?.members.length]).toEqual(["Stable", 2]);
    });
    await stream(verdicts, { 8: () => system.services.clients.kill() });
    await expectAgreed();
    expect(second.running()).toBe(true);
    await system.services.clients.start();
    await system.ready();
  });

  test("responds without Kafka, and applies all verdicts after Kafka starts again", async () => {
    const verdicts = await someClients(6);
    await expectAgreed();
    await testSystem.kafka?.stop();
    try {
      await stream(verdicts.slice(0, 8));
      const { status } = await business.call("GET", "/api/v1/clients?kyc_status=CREATED");
      expect(status).toBe(200);
      expect(
        (await business.call("POST", "/api/v1/accounts", { ...someAccount, client_id: await aClient(business) })).status,
      ).toBe(201);
    } finally {
      await testSystem.kafka?.start();
    }
    await stream(verdicts.slice(8));
    await expectAgreed();
  });

  test("changes no byte after a second delivery of the complete topic with an empty inbox", async () => {
    const { clients } = testSystem.system.services;
    const dump = async () => [
      await rowsOf("clients", "select to_jsonb(c) as row from client c order by id"),
      await rowsOf("clients", "select to_jsonb(o) as row from onboarding o order by id"),
      await rowsOf("clients", "select to_jsonb(d) as row from onboarding_details d order by id"),
      await approvals(),
    ];
    const consumed = () => rowsOf("clients", "select event_id from inbox where consumer = 'clients' order by event_id");
    await eventually(async () => expect(await rowsOf("clients", "select id from outbox_waiting")).toEqual([]));
    await eventually(async () => {
      const approved = await rowsOf("clients", "select id as entity_id from onboarding where decision = 'APPROVED' order by id");
      expect(await approvals()).toEqual(approved);
    });
    const [before, consumedBefore] = [await dump(), await consumed()];
    const topic = (await readKafka(testSystem.kafka?.brokers ?? "")).filter((message) => message.topic === "kyc.v1");
    expect([...new Set(topic.map(({ headers }) => headers["ce_id"]))].sort()).toEqual(
      consumedBefore.map(({ event_id }) => event_id),
    );
    await clients.stop();
    // Not permitted for services: inbox rows are dropped only with their partition.
    const owner = new Client({ connectionString: testSystem.system.ownerDatabaseUrls["clients"] });
    await owner.connect();
    await owner.query("delete from inbox").finally(() => owner.end());
    await withKafka((admin) => admin.deleteGroups([group]));
    await clients.start();
    await testSystem.system.ready();
    await eventually(async () => expect(await consumed()).toEqual(consumedBefore));
    await eventually(async () => expect(await rowsOf("clients", "select id from outbox_waiting")).toEqual([]));
    expect(await dump()).toEqual(before);
    await expectAgreed();
  });
});

test("40 creations with keys, during which clients is killed, create one row for each key", async () => {
  const client_id = await aClient(business);
  const things = Array.from({ length: 40 }, (_, index) => {
    const name = `keyed-${index}-${randomUUID()}`;
    const [path, body] =
      index % 2
        ? ["/api/v1/accounts", { ...someAccount, client_id, account_name: name }]
        : ["/api/v1/beneficiaries", { ...someBeneficiary, client_id, name }];
    return { name, create: () => business.call("POST", path, body, { "idempotency-key": name }) };
  });
  let answered = 0;
  const first = Promise.withResolvers<void>();
  const answers = Promise.all(
    things.map(async ({ create }) => {
      const answer = await create();
      answered++;
      first.resolve();
      return answer;
    }),
  );
  await first.promise;
  await testSystem.system.services.clients.kill();
  expect(answered).toBeLessThan(things.length);
  await testSystem.system.services.clients.start();
  await testSystem.system.ready();
  for (const { status } of await answers) expect([201, 409, 500, 502, 503, 504]).toContain(status);
  for (const [index, { name, create }] of things.entries()) {
    const again = await eventually(async () => {
      const answer = await create();
      expect(answer.status, answer.text).toBe(201);
      return answer;
    });
    const before = (await answers)[index];
    if (before?.status === 201) expect(again.text).toBe(before.text);
    const rows = await rowsOf(
      "clients",
      "select id from account where account_name = $1 union all select id from beneficiary where name = $1",
      [name],
    );
    expect(rows).toEqual([{ id: again.body["id"] }]);
  }
});

test("after a client is blocked during parallel openings, all openings with 201 exist and no later one succeeds", async () => {
  const trip = async () => (await request(`${testSystem.system.sandboxUrl}/healthz`)).body.dump();
  const opensMax = 50;
  const accountsOf = async (clientId: string) =>
    (await rowsOf("clients", "select id from account where client_id = $1 order by id", [clientId])).map(({ id }) => String(id));
  const clients: string[] = [];
  while (clients.length < 30) clients.push(await aClient(business));
  const rounds = await Promise.all(
    clients.map(async (client_id, round) => {
      let blockedAtMs = Number.POSITIVE_INFINITY;
      const late: string[] = [];
      const open = async (): Promise<unknown> => {
        const sentAtMs = performance.now();
        const { status, body } = await business.call("POST", "/api/v1/accounts", { ...someAccount, client_id });
        // Calls of one business can time out in its fair queue. Those calls had no effect.
        if (body["code"] === "overloaded") return await open();
        if (status !== 201) return body["code"];
        if (sentAtMs > blockedAtMs) late.push(String(body["id"]));
        return { id: String(body["id"]) };
      };
      const openUntilBlocked = async () => {
        const opened: string[] = [];
        for (let opens = 0; opens < opensMax; opens++) {
          const answer = await open();
          if (typeof answer !== "object" || answer === null) {
            expect(answer).toBe("client_blocked");
            return opened;
          }
          opened.push((answer as { id: string }).id);
        }
        throw new Error("The client was blocked, but accounts could still be opened.");
      };
      const block = async () => {
        for (let trips = 0; trips < round; trips++) await trip();
        const send = () => business.call("PUT", `/api/v1/clients/person/${client_id}`, { blocked: true });
        let answer = await send();
        while (answer.body["code"] === "overloaded") answer = await send();
        blockedAtMs = performance.now();
        expect(answer.status, answer.text).toBe(200);
        return { rows: await accountsOf(client_id), afterwards: await Promise.all([open(), open()]) };
      };
      const [blocked, ...opened] = await Promise.all([block(), openUntilBlocked(), openUntilBlocked(), openUntilBlocked()]);
      expect(blocked.afterwards).toEqual(["client_blocked", "client_blocked"]);
      expect(late).toEqual([]);
      const rows = await accountsOf(client_id);
      expect(rows).toEqual(opened.flat().sort());
      // The block waited for openings before it, and openings after it observed it.
      expect(rows).toEqual(blocked.rows);
      return rows.length;
    }),
  );
  // At least once the block was between openings.
  expect(Math.max(...rounds)).toBeGreaterThan(0);
});

test("after all tests no dead letter exists, each approval is audited once, and list totals equal the table counts", async () => {
  expect(await rowsOf("clients", "select reason from dead_letter where status <> 'DELIVERED'")).toEqual([]);
  const approved = await rowsOf("clients", "select id as entity_id from onboarding where decision = 'APPROVED' order by id");
  expect(approved.length).toBeGreaterThan(0);
  expect(await approvals()).toEqual(approved);
  for (const status of ["CREATED", "VALIDATED", "DECLINED", "PENDING_REVIEW", "ABORTED", "PROCESSING", "NOT_STARTED"]) {
    const { headers } = await business.call("GET", `/api/v1/clients?kyc_status=${status}`);
    const [row] = await rowsOf("clients", "select count(*) from client where kyc_status = $1", [status]);
    expect([status, headers["x-total-count"]]).toEqual([status, row.count]);
  }
});
