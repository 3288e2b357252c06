import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { startPostgres } from "@amana/dev-env/postgres";
import { servicesWithDatabase } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareRecovery, readArchiveSettings, takeBaseBackup } from "../../src/base-backup.ts";
import { expectOnboarding, onboardingStatuses, saveDetails } from "../../src/clients-harness.ts";
import { withClient } from "../../src/find-everywhere.ts";
import { aClient, actOnLink, anApplication, applicationsPath, waitForWebhook } from "../../src/kyc-harness.ts";
import { databaseSettings, execAmana, runAmana } from "../../src/run-amana.ts";
import {
  aBusiness,
  aPaidPayment,
  copyPostgresData,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
} from "../../src/test-system.ts";

/**
 * Follows the sections "Restore another service" and "Restore everything" of docs/restore.md in a
 * complete system. services/payments/test/restore.test.ts tests a restore of payments.
 */
type Owner = (typeof servicesWithDatabase)[number];

const stack = new AsyncDisposableStack();
let testSystem: TestSystem;
let system: System;
let business: TestBusiness;
let operator: ApiCaller;
/** Current database URL of each service. At first, all databases are on the old server. */
let urls: Record<string, string>;
/** Time to which the services are restored. */
let targetTime: Date;
/** Starts a new server, recovers the state at `targetTime` on it, and returns its port. */
let restoreServer: (name: string) => Promise<number>;
let initial: Awaited<ReturnType<typeof createInitialState>>;
let lostChanges: Awaited<ReturnType<typeof makeLaterChanges>>;

const amana = (...args: string[]) => runAmana(databaseSettings(urls), ...args);
const republish = (topic: string) => amana("outbox", "republish", "--topic", topic);
const queryRows = async <Row extends object>(url: string | undefined, text: string, values: unknown[] = []) =>
  await withClient(url ?? "", async (client) => (await client.query<Row>(text, values)).rows);
const readEventIds = async () => {
  const { body } = await business.call("GET", "/api/v1/events?limit=100");
  return (body as unknown as { id: string }[]).map(({ id }) => id).sort();
};
/** Returns, by event id, how many times the business has received each event. */
const countDeliveries = () =>
  new Map(
    [...Map.groupBy(business.receiver.received, ({ body }) => String(body["id"]))].map(([id, webhooks]) => [id, webhooks.length]),
  );
const waitForDeliveries = () =>
  eventually(async () =>
    expect(await queryRows(urls["webhooks"], "select 1 from delivery where status = 'PENDING'")).toEqual([]),
  );

beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const [walFolder, baseBackup] = [join(dir, "wal"), join(dir, "base")];
  const start = async (name: string, settings: readonly string[] = []) => {
    const server = await startPostgres({ dataDir: join(dir, name), durable: false, log: () => {}, settings });
    stack.defer(() => server.stop());
    return server;
  };
  await copyPostgresData(dir);
  const oldServer = await start("postgres", await readArchiveSettings(walFolder));
  restoreServer = async (name) => {
    const lastWal = join(dir, "postgres", "pg_wal");
    await prepareRecovery({ baseBackup, walFolder, lastWal, dataDir: join(dir, name), until: targetTime });
    return (await start(name)).port;
  };
  // kyc does not poll during the test, so it gets changes only from the provider's event feed.
  const env = { kyc: { KYC_CHECK_SECONDS: "86400" } };
  testSystem = stack.use(await startTestSystem("kafka", env, { databaseUrl: oldServer.superuserUrl }));
  ({ system } = testSystem);
  urls = { ...system.databaseUrls };
  business = await aBusiness(system);
  stack.use(business.receiver);
  operator = apiCaller(system.gatewayUrl, system.adminKey);

  initial = await createInitialState();
  await takeBaseBackup(oldServer, join(dir, "postgres"), baseBackup);
  await publishUnprocessedEvent();
  const [now] = await queryRows<{ at: Date }>(
    oldServer.superuserUrl,
    "select clock_timestamp() + interval '1 millisecond' as at",
  );
  targetTime = now?.at ?? new Date();
  lostChanges = await makeLaterChanges();
});
afterAll(() => stack.disposeAsync());

async function createInitialState() {
  const { id: payment } = await aPaidPayment(system, business);
  const client = await aClient(business);
  await saveDetails(business, client);
  const application = await anApplication(business, { client_id: client });
  await expectOnboarding(business, client, onboardingStatuses.created, application);
  // A rule of Amana requires a review of this application, so the provider cannot return the
  // review's decision after the restore.
  const reviewed = { client: await aClient(business) };
  await saveDetails(business, reviewed.client);
  const inReview = await anApplication(business, { client_id: reviewed.client });
  await actOnLink(system, inReview.link, "submit", { outcome: "approved", aml_hit_count: 1 });
  await expectOnboarding(business, reviewed.client, onboardingStatuses.underReview, { id: inReview.id });
  const till = await operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: "till" });
  await waitForWebhook(business, "PAYMENT_COMPLETED", payment);
  await waitForDeliveries();
  return {
    payment,
    client,
    application,
    reviewed: { ...reviewed, ...inReview },
    till: { id: String(till.body["id"]), key: String(till.body["api_key"]) },
  };
}

/**
 * Stops webhooks, pays a payment, and sets the commit time of its outbox row back by one day. At
 * the restored time, webhooks has therefore not processed an event that is a day old.
 */
async function publishUnprocessedEvent(): Promise<void> {
  await system.services.webhooks.stop();
  const { id } = await aPaidPayment(system, business);
  const rows = await queryRows(
    urls["payments"],
    "update outbox set created_at = created_at - interval '1 day' where topic = 'payments.v1' and key = $1 returning 1",
    [id],
  );
  expect(rows).toHaveLength(1);
}

async function makeLaterChanges() {
  await system.services.webhooks.start();
  await system.waitUntilReady();
  const { id: payment } = await aPaidPayment(system, business);
  expect((await business.call("POST", `/api/v1/payments/${initial.payment}/refund`)).status).toBe(200);
  const client = await aClient(business);
  const application = await anApplication(business, { client_id: client });
  await actOnLink(system, initial.application.link, "submit", { outcome: "approved" });
  await expectOnboarding(business, initial.client, onboardingStatuses.verified, { id: initial.application.id });
  expect((await operator("POST", `/api/v1/clients/${initial.client}/onboarding/approve`)).status).toBe(200);
  await review();
  await waitForWebhook(business, "KYC_REVIEW_RESOLVED", initial.reviewed.id);
  expect((await operator("POST", `/api/v1/admin/api-keys/${initial.till.id}/revoke`)).status).toBe(200);
  await waitForWebhook(business, "PAYMENT_COMPLETED", payment);
  await waitForWebhook(business, "PAYMENT_REFUNDED", initial.payment);
  await waitForWebhook(business, "KYC_COMPLETED", initial.application.id);
  await waitForDeliveries();
  const approval = await eventually(async () => {
    const [row] = await readApprovals();
    expect(row).toBeDefined();
    return row;
  });
  return { payment, client, application, approval };
}

/** Approves the application in review and waits until its client's onboarding is verified. */
async function review(): Promise<void> {
  const decision = { outcome: "APPROVED", note: "another person of the same name" };
  expect((await operator("POST", `${applicationsPath}/${initial.reviewed.id}/review`, decision)).status).toBe(200);
  await expectOnboarding(business, initial.reviewed.client, onboardingStatuses.verified, { id: initial.reviewed.id });
}

/** Returns the audit rows about approvals of onboardings. */
const readApprovals = () =>
  queryRows<{ id: string }>(urls["identity"], "select id from audit_event where action = 'onboarding.approved' order by at");

/** Starts a service with its database on the restored server at `port`. */
async function startOn(port: number, name: Owner): Promise<void> {
  const url = new URL(system.databaseUrls[name] ?? "");
  url.port = String(port);
  urls[name] = url.href;
  await system.services[name].start({ DATABASE_URL: url.href });
}

/** Kills a service and starts it with its restored database. The other services are not stopped. */
async function restoreService(port: number, name: Owner): Promise<void> {
  await system.services[name].kill();
  await startOn(port, name);
}

test("a service whose database was restored, except payments, gets the lost changes back from the other services", async () => {
  const port = await restoreServer("alone");
  await restoreIdentity(port);
  await restoreWebhooks(port);
  await restoreClients(port);
  await restoreKyc(port);
});

/** Restores identity while the other services can still republish lost audit events. */
async function restoreIdentity(port: number): Promise<void> {
  await system.services.gateway.stop();
  await restoreService(port, "identity");
  const activeKey = "select 1 from api_key where id = $1 and revoked_at is null";
  expect(await queryRows(urls["identity"], activeKey, [initial.till.id])).toHaveLength(1);
  expect(await readApprovals()).toEqual([]);
  const lines = (await readFile(join(system.logDir, "identity.log"), "utf8")).split("\n");
  const revocationLogs = lines.filter((line) => line.includes("access revoked")).map((line) => JSON.parse(line));
  expect(revocationLogs).toEqual([expect.objectContaining({ business_id: business.id, api_key_id: initial.till.id })]);
  await amana("api-keys", "revoke", "--databases", revocationLogs[0].api_key_id, "--reason", "revoked before the restore");
  await system.services.gateway.start();
  await system.waitUntilReady();
  const me = (key: string) => apiCaller(system.gatewayUrl, key)("GET", "/api/v1/me");
  expect(await me(initial.till.key)).toMatchObject({ status: 401, body: { code: "api_key_revoked" } });
  expect((await me(business.key)).status).toBe(200);
  await republish("audit.v1");
  await eventually(async () => expect(await readApprovals()).toEqual([lostChanges.approval]));
}

async function restoreWebhooks(port: number): Promise<void> {
  const [idsBefore, deliveriesBefore] = [await readEventIds(), countDeliveries()];
  await restoreService(port, "webhooks");
  await system.waitUntilReady();
  const restoredIds = await readEventIds();
  expect(idsBefore.length - restoredIds.length).toBeGreaterThanOrEqual(3);
  for (const topic of ["payments.v1", "kyc.v1"]) await republish(topic);
  const { id } = await aPaidPayment(system, business);
  await waitForWebhook(business, "PAYMENT_COMPLETED", id);
  await eventually(async () => expect(await readEventIds()).toEqual(expect.arrayContaining(idsBefore)));
  await waitForDeliveries();
  expect(await readEventIds()).toHaveLength(idsBefore.length + 1);
  const repetitions = (event: string) => (restoredIds.includes(event) ? 0 : deliveriesBefore.has(event) ? 1 : 0);
  for (const event of idsBefore)
    expect(countDeliveries().get(event) ?? 0, event).toBe((deliveriesBefore.get(event) ?? 0) + repetitions(event));
}

async function restoreClients(port: number): Promise<void> {
  await restoreService(port, "clients");
  await system.waitUntilReady();
  const application = { id: initial.application.id };
  await expectOnboarding(business, initial.client, onboardingStatuses.created, application);
  await republish("kyc.v1");
  await expectOnboarding(business, initial.client, onboardingStatuses.verified, application);
  expect((await business.call("GET", `/api/v1/clients/${lostChanges.client}`)).status).toBe(404);
  // clients dead-letters an event about a client that the restored database does not have.
  const readDeadLetters = async () =>
    JSON.parse((await execAmana(databaseSettings(urls), "dead-letters", "list", "--databases", "--json")).out) as {
      id: string;
      reason: string;
    }[];
  const [deadLetter, ...otherDeadLetters] = await eventually(async () => {
    const deadLetters = await readDeadLetters();
    expect(deadLetters).not.toEqual([]);
    return deadLetters;
  });
  expect([deadLetter?.reason, otherDeadLetters]).toEqual([
    `Error: client ${lostChanges.client} not found for this KYC event`,
    [],
  ]);
  await amana("dead-letters", "drop", "--databases", deadLetter?.id ?? "", "--reason", "client created after the restored time");
  expect(await readDeadLetters()).toEqual([]);
}

async function restoreKyc(port: number): Promise<void> {
  const countBefore = receivedVerdicts().size;
  await restoreService(port, "kyc");
  await system.waitUntilReady();
  await expectSecondVerdictEvent(countBefore);
  await expectOnboarding(business, initial.client, onboardingStatuses.verified, { id: initial.application.id });
  expect((await business.call("GET", `${applicationsPath}/${lostChanges.application.id}`)).status).toBe(404);

  const lostDecisions = async () => {
    const { out } = await execAmana(databaseSettings(urls), "restored", "kyc", "--since", targetTime.toISOString(), "--json");
    return (JSON.parse(out) as { id: string; here: string; status: string }[]).map(({ id, here, status }) => [id, here, status]);
  };
  expect(await lostDecisions()).toEqual([[initial.reviewed.id, "NEEDS_REVIEW", "APPROVED"]]);
  await expectOnboarding(business, initial.reviewed.client, onboardingStatuses.underReview, { id: initial.reviewed.id });
  await eventually(async () => expect(await lostDecisions()).toEqual([]));
  await review();
}

/** Returns the verdict in each KYC_COMPLETED that the business received, by event id. */
const receivedVerdicts = () =>
  new Map(
    business.receiver.received
      .filter(({ event, body }) => event === "KYC_COMPLETED" && body["application_id"] === initial.application.id)
      .map(({ body }) => [body["id"], body["verdict"]]),
  );

/** Waits for one more KYC_COMPLETED, and expects that it has the same verdict. */
async function expectSecondVerdictEvent(countBefore: number): Promise<void> {
  await eventually(() => expect(receivedVerdicts().size).toBe(countBefore + 1));
  expect(new Set(receivedVerdicts().values())).toEqual(new Set(["APPROVED"]));
}

test("all services respond, and the payments service sends no refunds, after all databases were restored to one time and Kafka was emptied", async () => {
  const port = await restoreServer("all");
  await system.services.gateway.stop();
  for (const name of servicesWithDatabase) await system.services[name].kill();
  await emptyKafka();
  const countBefore = receivedVerdicts().size;
  for (const name of ["identity", "payments", "kyc", "clients", "webhooks"] as const) await startOn(port, name);
  for (const topic of ["payments.v1", "kyc.v1", "audit.v1"]) await republish(topic);
  await system.services.gateway.start();
  await system.waitUntilReady();

  const readPaymentStatus = async (id: string) => (await business.call("GET", `/api/v1/payments/${id}`)).body["status"];
  expect([await readPaymentStatus(initial.payment), await readPaymentStatus(lostChanges.payment)]).toEqual(["PAID", 404]);
  const repeatedRefund = await business.call("POST", `/api/v1/payments/${initial.payment}/refund`);
  expect(repeatedRefund).toMatchObject({ status: 503, body: { code: "refunds_held" } });
  await expectSecondVerdictEvent(countBefore);
  await expectOnboarding(business, initial.client, onboardingStatuses.verified, { id: initial.application.id });
  const { id } = await aPaidPayment(system, business);
  await waitForWebhook(business, "PAYMENT_COMPLETED", id);
  expect(business.receiver.refused).toEqual([]);
});

async function emptyKafka(): Promise<void> {
  const brokers = [testSystem.kafka?.brokers ?? ""];
  const admin = new Kafka({ clientId: "test", brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => !topic.startsWith("__"));
  await admin.deleteTopics({ topics }).finally(() => admin.disconnect());
}
