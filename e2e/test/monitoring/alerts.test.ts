import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@amana/dev-env/eventually";
import { type Postgres, startPostgres } from "@amana/dev-env/postgres";
import type { ServiceName } from "@amana/dev-env/services";
import { type Collector, startCollector } from "@amana/runtime/test/collector";
import { Kafka as Client, logLevel, Partitioners } from "kafkajs";
import pg from "pg";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  callSandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "../../src/test-system.ts";
import { type Prometheus, prometheusPath, promtool, startPrometheus } from "./prometheus.ts";
import { alerts, findMetrics, panelQueries, recordings } from "./rules.ts";

describe.skipIf(!prometheusPath)("the alert rules", () => {
  test("promtool accepts the alert rules, and the unit tests of the rules pass", async () => {
    expect(await promtool("check", "rules", "rules.yaml", "alerts.yaml")).toContain(`SUCCESS: ${alerts.length} rules found`);
    expect(await promtool("test", "rules", "tests.yaml")).toContain("SUCCESS");
  });
});

/** Alerts on slow responses. They may fire if the machine runs other tests at the same time. */
const speedAlerts = /^(ApiSlow|EventLoop)/;

describe.skipIf(!prometheusPath)("a Prometheus that scrapes the running system", () => {
  let dir: string;
  let postgres: Postgres;
  let testSystem: TestSystem;
  let prometheus: Prometheus;
  let collector: Collector;
  let business: TestBusiness;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "amana-alerts-"));
    postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
    collector = await startCollector();
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_RATIO: "0.1" };
    testSystem = await startTestSystem(
      "kafka",
      {
        gateway: { ...traces, REQUESTS_AT_ONCE_MAX: "100", RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "20" },
        // Retries deliveries for two minutes, so that attempts still fail when AttemptsFailing fires.
        webhooks: { RETRY_SCHEDULE_SECONDS: Array(120).fill("1").join() },
        payments: { PAYMENT_CHECK_SECONDS: "1", REFUND_DECISION_AFTER_SECONDS: "45" },
      },
      { databaseUrl: postgres.superuserUrl, supervised: true },
    );
    prometheus = await startPrometheus(join(dir, "prometheus"), testSystem.system.metricsUrls);
    business = await aBusiness(testSystem.system);
  });
  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await business?.receiver[Symbol.asyncDispose]();
    await testSystem?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
    await postgres?.stop();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  afterEach(async () => void (await callSandbox(testSystem.system, "DELETE", "/sandbox/faults")));

  const expectFiring = (alertname: string, labels: Readonly<Record<string, string>> = {}) =>
    eventually(async () => {
      const firing = await prometheus.firingAlerts();
      expect(firing, `${alertname} fires`).toContainEqual(expect.objectContaining({ alertname, ...labels }));
    });
  const setProviderFault = (operation: string, mode: string) =>
    callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation, mode, times: 10_000 });
  const create = () => business.call("POST", "/api/v1/payments", anOrder);
  const verify = () => business.call("POST", "/api/v1/kyc/applications", {});
  const sendSignal = (name: ServiceName, signal: NodeJS.Signals) => {
    const pid = testSystem.system.services[name].pid();
    if (pid === undefined) throw new Error(`${name} is not running`);
    process.kill(pid, signal);
  };
  const superuserUrlOf = (name: ServiceName) => {
    const url = new URL(postgres.superuserUrl);
    url.pathname = new URL(testSystem.system.databaseUrls[name] ?? "").pathname;
    return url.toString();
  };
  /** Runs `use` with a superuser's connection to the database of service `name`. */
  const runAsSuperuser = async <T>(name: ServiceName, use: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: superuserUrlOf(name) });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  };
  /** Repeats `action` in `loopCount` parallel loops until `work` ends, even after errors. */
  const repeatDuring = async (loopCount: number, action: () => Promise<unknown>, work: Promise<unknown>) => {
    let isOver = false;
    const loops = Array.from({ length: loopCount }, async () => {
      while (!isOver) await action().catch(() => {});
    });
    await work.finally(() => {
      isOver = true;
    });
    await Promise.all(loops);
  };
  const createRefund = async () => {
    const { id } = await aPaidPayment(testSystem.system, business);
    await business.call("POST", `/api/v1/payments/${id}/refund`);
    await business.call("GET", `/api/v1/payments/${id}`);
    await pause();
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

  test("Prometheus has data for every panel and every rule, and in a healthy system fires only alerts on slow responses", async () => {
    const queries = [...panelQueries, ...recordings.map(({ record = "" }) => ({ place: record, expr: record }))];
    const metrics = new Set(alerts.flatMap(({ expr }) => findMetrics(expr).map(({ name }) => name)));
    for (const name of metrics) queries.push({ place: "an alert", expr: `count(${name})` });
    for (let i = 0; i < 3; i++) await verify();
    const queriesHaveData = eventually(async () => {
      const empty = [];
      for (const { place, expr } of queries) if ((await prometheus.query(expr)).length === 0) empty.push(`${place}: ${expr}`);
      expect(empty).toEqual([]);
    }, 120_000);
    await repeatDuring(1, createRefund, queriesHaveData);
    const firing = (await prometheus.firingAlerts()).map(({ alertname = "" }) => alertname);
    expect(firing.filter((alert) => !speedAlerts.test(alert))).toEqual([]);
  });

  test("the matching alert fires when the processor, provider, endpoints or span collector fails, when messages are forged, when keys are guessed, and during overload", async () => {
    const withoutServer = await aBusiness(testSystem.system, "Without a server");
    await withoutServer.receiver[Symbol.asyncDispose]();
    for (let i = 0; i < 5; i++) await aPaidPayment(testSystem.system, withoutServer);
    const refundedPayment = await aPaidPayment(testSystem.system, business);
    const unconfirmedPayment = await create();
    await Promise.all([
      setProviderFault("register", "timeout_before"),
      setProviderFault("confirm", "http_503"),
      setProviderFault("refund", "timeout_before"),
    ]);
    await Promise.all([setProviderFault("kyc_create", "timeout_before"), setProviderFault("kyc_get", "timeout_before")]);
    await callSandbox(
      testSystem.system,
      "POST",
      `/sandbox/payments/${unconfirmedPayment.body["processor_order_id"]}/pay`,
      validCard,
    );
    void business.call("POST", `/api/v1/payments/${refundedPayment.id}/refund`);
    await sendForgedMessage();
    collector.responseStatus = 400;

    const guessKey = () =>
      request(`${testSystem.system.gatewayUrl}/api/v1/me`, { headers: { authorization: "Bearer unknown" } }).then(({ body }) =>
        body.dump(),
      );
    const sendForgedCallback = () =>
      request(`${testSystem.system.gatewayUrl}/callbacks/kyc`, {
        method: "POST",
        body: "{}",
        headers: { "x-signature": "t=1,v1=00" },
      }).then(({ body }) => body.dump());
    await Promise.all([
      repeatDuring(
        150,
        create,
        Promise.all([
          expectFiring("RequestsShed", { bound: "at_once" }),
          expectFiring("CardProcessorFailing", { operation: "register" }),
          expectFiring("ApiErrorsBurnFast"),
        ]),
      ),
      repeatDuring(1, verify, expectFiring("VerificationProviderFailing", { operation: "create" })),
      repeatDuring(1, () => guessKey().then(pause), expectFiring("KeyGuessing")),
      repeatDuring(1, () => sendForgedCallback().then(pause), expectFiring("ForgedCallbacks")),
      expectFiring("AttemptsFailing"),
      expectFiring("SpansLost", { job: "gateway", outcome: "refused" }),
      expectFiring("ForgedMessages", { job: "webhooks", topic: "payments.v1" }),
      expectFiring("LogAlert", { job: "webhooks" }),
      expectFiring("PaymentsUnconfirmed"),
      expectFiring("RefundsUnknown"),
      expectFiring("RefundsNeedDecision"),
    ]);
  });

  /** Sends a message without a MAC to Kafka. */
  async function sendForgedMessage(): Promise<void> {
    const brokers = testSystem.kafkaNodes.map((node) => node.brokers);
    const producer = new Client({ brokers, logLevel: logLevel.NOTHING }).producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    const headers = { ce_id: "019a0000-0000-7000-8000-000000000001", ce_type: "payments.v1.PaymentRefunded" };
    await producer.send({ topic: "payments.v1", messages: [{ key: "forged", value: "invented", headers }] });
    await producer.disconnect();
  }

  test("the matching alert fires when a consumer cannot apply events, and when a dead-lettered message is PARKED", async () => {
    await runAsSuperuser("webhooks", async (owner) => {
      await owner.query("alter table event rename column body to body_renamed");
      for (let i = 0; i < 5; i++) await aPaidPayment(testSystem.system, business);
      await expectFiring("ConsumerStopped", { job: "webhooks", topic: "payments.v1" });
      await expectFiring("DeadLettersOpen", { job: "webhooks" });
      await owner.query(
        "update dead_letter set status = 'PARKED', next_attempt_at = null where id = (select id from dead_letter limit 1)",
      );
      await expectFiring("DeadLettersParked", { job: "webhooks" });
      await owner.query("update dead_letter set status = 'RETRYING', next_attempt_at = now() where status = 'PARKED'");
      await owner.query("alter table event rename column body_renamed to body");
      await expectFiring("WebhooksLateBurnFast");
    });
  });

  test("the matching alert fires when events are not published during an outage of Kafka or of all relays", async () => {
    await testSystem.kafka?.kill();
    await aPaidPayment(testSystem.system, business);
    await Promise.all([expectFiring("OutboxStuck", { job: "payments" }), expectFiring("ConsumerNotJoined", { job: "webhooks" })]);
    await testSystem.kafka?.start();
    await runAsSuperuser("payments", async (lockHolder) => {
      const terminateRelay =
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
      await eventually(async () => {
        await lockHolder.query(terminateRelay);
        const { rows } = await lockHolder.query<{ isLocked: boolean }>('select pg_try_advisory_lock(7166242) as "isLocked"');
        expect(rows[0]?.isLocked).toBe(true);
      });
      await expectFiring("RelayMissing", { job: "payments" });
    });
  });

  test("the matching alert fires when a process is missing, is frozen or restarts repeatedly", async () => {
    await testSystem.system.services.identity.kill();
    const alertsOfIdentity = [
      expectFiring("ServiceDown", { job: "identity" }),
      expectFiring("KeysNotResolved"),
      expectFiring("CallsFailing", { to: "identity" }),
    ];
    await repeatDuring(2, () => business.call("GET", "/api/v1/me").then(pause), Promise.all(alertsOfIdentity));
    await testSystem.system.services.identity.start();
    await testSystem.system.waitUntilReady();

    sendSignal("webhooks", "SIGSTOP");
    for (let i = 0; i < 5; i++) await aPaidPayment(testSystem.system, business);
    await expectFiring("ServiceDown", { job: "webhooks" });
    sendSignal("webhooks", "SIGCONT");

    for (let starts = 1; starts <= 3; starts++) {
      sendSignal("clients", "SIGKILL");
      await eventually(async () => {
        const [startCount] = await prometheus.query('changes(process_start_time_seconds{job="clients"}[5m])');
        expect(startCount?.value).toBe(starts);
      });
    }
    await expectFiring("ServiceRestarting", { job: "clients" });
  });

  test("the matching alert fires when a database is slow, and when PostgreSQL is down", async () => {
    const { id } = await aPaidPayment(testSystem.system, business);
    const read = () => business.call("GET", `/api/v1/payments/${id}`);
    const sealingAlert = runAsSuperuser("identity", async (holder) => {
      await holder.query("begin; lock table audit_link");
      await business.call("POST", "/api/v1/me/api-keys", { name: "not sealed" });
      await expectFiring("AuditNotSealed");
      await holder.query("rollback");
    });
    await runAsSuperuser("payments", async (holder) => {
      const slowAlerts = Promise.all([
        expectFiring("ApiSlowBurnFast"),
        expectFiring("DatabasePoolExhausted", { job: "payments" }),
      ]);
      const lockTables = async () => {
        await holder.query("begin; lock table payment; lock table idempotency_key");
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        await holder.query("rollback");
      };
      await repeatDuring(1, lockTables, repeatDuring(40, create, repeatDuring(20, read, slowAlerts)));
    });
    await sealingAlert;
    await postgres.kill();
    await expectFiring("DatabaseUnreachable", { job: "payments" });
    await postgres.start();
    await eventually(async () => {
      const firing = (await prometheus.firingAlerts()).map(({ alertname }) => alertname);
      for (const alert of ["DatabaseUnreachable", "ServiceDown", "OutboxStuck", "RelayMissing", "AuditNotSealed"])
        expect(firing).not.toContain(alert);
    });
  });
});
