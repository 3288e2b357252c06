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
  sandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "../../src/test-system.ts";
import { type Prometheus, prometheusPath, promtool, startPrometheus } from "./prometheus.ts";
import { alerts, metricsIn, panelQueries, recordings } from "./rules.ts";

describe.skipIf(!prometheusPath)("the alert rules", () => {
  test("are valid, and their unit tests pass", async () => {
    expect(await promtool("check", "rules", "rules.yaml", "alerts.yaml")).toContain(`SUCCESS: ${alerts.length} rules found`);
    expect(await promtool("test", "rules", "tests.yaml")).toContain("SUCCESS");
  });
});

/** Alerts that may fire on a machine that is busy with other tests. */
const speedAlerts = /^(ApiSlow|EventLoop)/;

describe.skipIf(!prometheusPath)("a Prometheus that scrapes the running system", () => {
  let dir: string;
  let postgres: Postgres;
  let running: TestSystem;
  let prometheus: Prometheus;
  let collector: Collector;
  let business: TestBusiness;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "amana-alerts-"));
    postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
    collector = await startCollector();
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_RATIO: "0.1" };
    running = await startTestSystem(
      "kafka",
      {
        gateway: { ...traces, REQUESTS_AT_ONCE_MAX: "100", RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "20" },
        // The time of this alert is longer than the test.
        webhooks: { RETRY_SCHEDULE_SECONDS: Array(120).fill("1").join() },
        payments: { PAYMENT_CHECK_SECONDS: "1", REFUND_DECISION_AFTER_SECONDS: "45" },
      },
      { databaseUrl: postgres.superuserUrl, supervised: true },
    );
    prometheus = await startPrometheus(join(dir, "prometheus"), running.system.metricsUrls);
    business = await aBusiness(running.system);
  });
  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await business?.receiver[Symbol.asyncDispose]();
    await running?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
    await postgres?.stop();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  afterEach(async () => void (await sandbox(running.system, "DELETE", "/sandbox/faults")));

  const fires = (alertname: string, labels: Readonly<Record<string, string>> = {}) =>
    eventually(async () => {
      const firing = await prometheus.firing();
      expect(firing, `${alertname} fires`).toContainEqual(expect.objectContaining({ alertname, ...labels }));
    });
  const fault = (operation: string, mode: string) =>
    sandbox(running.system, "PUT", "/sandbox/faults", { operation, mode, times: 10_000 });
  const create = () => business.call("POST", "/api/v1/payments", anOrder);
  const verify = () => business.call("POST", "/api/v1/kyc/applications", {});
  const send = (name: ServiceName, signal: NodeJS.Signals) => {
    const pid = running.system.services[name].pid();
    if (pid === undefined) throw new Error(`${name} does not run`);
    process.kill(pid, signal);
  };
  const databaseOf = (name: ServiceName) => {
    const url = new URL(postgres.superuserUrl);
    url.pathname = new URL(running.system.databaseUrls[name] ?? "").pathname;
    return url.toString();
  };
  /** Runs `use` with a superuser connection. */
  const asSuperuser = async <T>(name: ServiceName, use: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: databaseOf(name) });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  };
  /** Repeats the action in parallel loops while `work` runs. Errors are ignored. */
  const repeatDuring = async (rows: number, action: () => Promise<unknown>, work: Promise<unknown>) => {
    let isOver = false;
    const loops = Array.from({ length: rows }, async () => {
      while (!isOver) await action().catch(() => {});
    });
    await work.finally(() => {
      isOver = true;
    });
    await Promise.all(loops);
  };
  const refundOne = async () => {
    const { id } = await aPaidPayment(running.system, business);
    await business.call("POST", `/api/v1/payments/${id}/refund`);
    await business.call("GET", `/api/v1/payments/${id}`);
    await pause();
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

  test("Prometheus has data for every panel and every rule, and fires no alert in a healthy system", async () => {
    const queries = [...panelQueries, ...recordings.map(({ record = "" }) => ({ place: record, expr: record }))];
    const metrics = new Set(alerts.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name)));
    for (const name of metrics) queries.push({ place: "an alert", expr: `count(${name})` });
    for (let i = 0; i < 3; i++) await verify();
    const answered = eventually(async () => {
      const empty = [];
      for (const { place, expr } of queries) if ((await prometheus.query(expr)).length === 0) empty.push(`${place}: ${expr}`);
      expect(empty).toEqual([]);
    }, 120_000);
    await repeatDuring(1, refundOne, answered);
    const firing = (await prometheus.firing()).map(({ alertname = "" }) => alertname);
    expect(firing.filter((alert) => !speedAlerts.test(alert))).toEqual([]);
  });

  test("alerts fire when the processor, provider, endpoints or collector fail, and on forgeries, key guessing and floods", async () => {
    const dead = await aBusiness(running.system, "Dead");
    await dead.receiver[Symbol.asyncDispose]();
    for (let i = 0; i < 5; i++) await aPaidPayment(running.system, dead);
    const toRefund = await aPaidPayment(running.system, business);
    const unconfirmed = await create();
    await Promise.all([fault("register", "timeout_before"), fault("confirm", "http_503"), fault("refund", "timeout_before")]);
    await Promise.all([fault("kyc_create", "timeout_before"), fault("kyc_get", "timeout_before")]);
    await sandbox(running.system, "POST", `/sandbox/payments/${unconfirmed.body["processor_order_id"]}/pay`, validCard);
    void business.call("POST", `/api/v1/payments/${toRefund.id}/refund`);
    await forge();
    collector.answer = 400;

    const guess = () =>
      request(`${running.system.gatewayUrl}/api/v1/me`, { headers: { authorization: "Bearer unknown" } }).then(({ body }) =>
        body.dump(),
      );
    const callBack = () =>
      request(`${running.system.gatewayUrl}/callbacks/kyc`, {
        method: "POST",
        body: "{}",
        headers: { "x-signature": "t=1,v1=00" },
      }).then(({ body }) => body.dump());
    await Promise.all([
      repeatDuring(
        150,
        create,
        Promise.all([
          fires("RequestsShed", { bound: "at_once" }),
          fires("CardProcessorFailing", { operation: "register" }),
          fires("ApiErrorsBurnFast"),
        ]),
      ),
      repeatDuring(1, verify, fires("VerificationProviderFailing", { operation: "create" })),
      repeatDuring(1, () => guess().then(pause), fires("KeyGuessing")),
      repeatDuring(1, () => callBack().then(pause), fires("ForgedCallbacks")),
      fires("AttemptsFailing"),
      fires("SpansLost", { job: "gateway", outcome: "refused" }),
      fires("ForgedMessages", { job: "webhooks", topic: "payments.v1" }),
      fires("LogAlert", { job: "webhooks" }),
      fires("PaymentsUnconfirmed"),
      fires("RefundsUnknown"),
      fires("RefundsNeedDecision"),
    ]);
  });

  /** Sends an unsigned message to the brokers. */
  async function forge(): Promise<void> {
    const brokers = running.kafkaNodes.map((node) => node.brokers);
    const producer = new Client({ brokers, logLevel: logLevel.NOTHING }).producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    const headers = { ce_id: "019a0000-0000-7000-8000-000000000001", ce_type: "payments.v1.PaymentRefunded" };
    await producer.send({ topic: "payments.v1", messages: [{ key: "forged", value: "invented", headers }] });
    await producer.disconnect();
  }

  test("alerts fire when a consumer cannot apply events, and when an event is parked", async () => {
    await asSuperuser("webhooks", async (owner) => {
      await owner.query("alter table event rename column body to gone");
      for (let i = 0; i < 5; i++) await aPaidPayment(running.system, business);
      await fires("ConsumerStopped", { job: "webhooks", topic: "payments.v1" });
      await fires("DeadLettersOpen", { job: "webhooks" });
      await owner.query(
        "update dead_letter set status = 'PARKED', next_attempt_at = null where id = (select id from dead_letter limit 1)",
      );
      await fires("DeadLettersParked", { job: "webhooks" });
      await owner.query("update dead_letter set status = 'RETRYING', next_attempt_at = now() where status = 'PARKED'");
      await owner.query("alter table event rename column gone to body");
      await fires("WebhooksLateBurnFast");
    });
  });

  test("alerts fire when Kafka or the relay is down and events are not published", async () => {
    await running.kafka?.kill();
    await aPaidPayment(running.system, business);
    await Promise.all([fires("OutboxStuck", { job: "payments" }), fires("ConsumerNotJoined", { job: "webhooks" })]);
    await running.kafka?.start();
    await asSuperuser("payments", async (other) => {
      const ofRelay =
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
      await eventually(async () => {
        await other.query(ofRelay);
        const { rows } = await other.query<{ got: boolean }>("select pg_try_advisory_lock(7166242) as got");
        expect(rows[0]?.got).toBe(true);
      });
      await fires("RelayMissing", { job: "payments" });
    });
  });

  test("alerts fire when processes are missing, frozen or restart repeatedly", async () => {
    await running.system.services.identity.kill();
    const noKeys = [
      fires("ServiceDown", { job: "identity" }),
      fires("KeysNotResolved"),
      fires("CallsFailing", { to: "identity" }),
    ];
    await repeatDuring(2, () => business.call("GET", "/api/v1/me").then(pause), Promise.all(noKeys));
    await running.system.services.identity.start();
    await running.system.ready();

    send("webhooks", "SIGSTOP");
    for (let i = 0; i < 5; i++) await aPaidPayment(running.system, business);
    await fires("ServiceDown", { job: "webhooks" });
    send("webhooks", "SIGCONT");

    for (let starts = 1; starts <= 3; starts++) {
      send("clients", "SIGKILL");
      await eventually(async () => {
        const [seen] = await prometheus.query('changes(process_start_time_seconds{job="clients"}[5m])');
        expect(seen?.value).toBe(starts);
      });
    }
    await fires("ServiceRestarting", { job: "clients" });
  });

  test("alerts fire when a database is slow, and when it is down", async () => {
    const { id } = await aPaidPayment(running.system, business);
    const read = () => business.call("GET", `/api/v1/payments/${id}`);
    const isNotSealed = asSuperuser("identity", async (holder) => {
      await holder.query("begin; lock table audit_link");
      await business.call("POST", "/api/v1/me/api-keys", { name: "not sealed" });
      await fires("AuditNotSealed");
      await holder.query("rollback");
    });
    await asSuperuser("payments", async (holder) => {
      const isSlow = Promise.all([fires("ApiSlowBurnFast"), fires("DatabasePoolExhausted", { job: "payments" })]);
      const hold = async () => {
        await holder.query("begin; lock table payment; lock table idempotency_key");
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        await holder.query("rollback");
      };
      await repeatDuring(1, hold, repeatDuring(40, create, repeatDuring(20, read, isSlow)));
    });
    await isNotSealed;
    await postgres.kill();
    await fires("DatabaseUnreachable", { job: "payments" });
    await postgres.start();
    await eventually(async () => {
      const firing = (await prometheus.firing()).map(({ alertname }) => alertname);
      for (const alert of ["DatabaseUnreachable", "ServiceDown", "OutboxStuck", "RelayMissing", "AuditNotSealed"])
        expect(firing).not.toContain(alert);
    });
  });
});
