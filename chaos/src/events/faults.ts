import type { Kafka } from "@amana/dev-env/kafka/kafka";
import type { Postgres } from "@amana/dev-env/postgres";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Clock } from "./clock.ts";
import { createProcessFaults, type Fault, type ProcessTargets } from "./process-faults.ts";
import type { Receiver } from "./start-receivers.ts";

/** Maximum time for which Kafka accepts no messages after a restart. */
const kafkaDownMsMax = 180_000;
/** Time that services need to reconnect to PostgreSQL. Attempt results may be lost in this time. */
const reconnectingMs = 4_000;
/**
 * Step of a wall clock. It exceeds one hour, the maximum difference from the broker's clock that a
 * broker accepts by default.
 */
const stepMs = 61 * 60 * 1000;

interface FaultTargets extends ProcessTargets {
  /** Brokers that are killed in sequence, and sometimes all at once. */
  readonly brokers: readonly Kafka[];
  /** PostgreSQL of all services except webhooks. */
  readonly postgres: Postgres;
  readonly webhooksPostgres: Postgres;
  /** Clocks of the consumers and relays. */
  readonly clocks: readonly Clock[];
  readonly receivers: readonly Receiver[];
  /** Connection to the database of webhooks as the owner of the tables. */
  readonly webhooks: Pool;
  /**
   * Sends one message of the intruder. Returns true if the message is based on a captured message
   * and a broker accepted it.
   */
  sendAsIntruder(): Promise<boolean>;
}

/**
 * Injects all kinds of faults in parallel until `signal` is aborted, each kind at least once. When
 * the function returns, all processes run again.
 */
export async function injectFaults(
  targets: FaultTargets,
  { random, report, signal }: { random: Random; report: Report; signal: AbortSignal },
): Promise<void> {
  const repeat = async (pauseMsMax: number, required: readonly Fault[], optional: readonly Fault[] = []) => {
    const faultRandom = random.fork();
    const faults = [...required, ...optional];
    for (let index = 0; index < required.length || !signal.aborted; index++) {
      const first = required[index];
      await sleep(faultRandom.integer(100, first ? 1_000 : pauseMsMax), first ? undefined : signal);
      if (first || !signal.aborted) await (first ?? faultRandom.pick(faults))(faultRandom, first !== undefined);
    }
  };
  const { consumers, extraConsumer, relays } = createProcessFaults(targets, report);
  await Promise.all([
    repeat(6_000, ...consumers),
    repeat(6_000, ...relays),
    repeat(5_000, ...extraConsumer),
    repeat(15_000, [killBrokers(targets, report)]),
    repeat(15_000, [stopWebhooksPostgres(targets, report), stopPostgres(targets, report)]),
    repeat(6_000, [stepClock(targets, report)]),
    repeat(5_000, [failEndpoint(targets, "failing", report), failEndpoint(targets, "hanging", report)]),
    repeat(8_000, [renameColumn(targets, report)]),
    repeat(600, [sendIntruderMessages(targets)]),
  ]);
  for (const clock of targets.clocks) clock.set(0);
}

function killBrokers({ brokers }: FaultTargets, report: Report): Fault {
  let index = 0;
  return async (random, isFirst) => {
    const brokersToKill = isFirst || random.chance(0.9) ? brokers.slice(index, index + 1) : brokers;
    index = (index + 1) % brokers.length;
    await Promise.all(brokersToKill.map((broker) => broker.kill()));
    report.count("brokers killed (-9)", brokersToKill.length);
    if (brokersToKill.length > 1) report.count("kills of all brokers at once");
    await sleep(random.integer(200, 3_000));
    await Promise.all(brokersToKill.map((broker) => broker.start()));
  };
}

/** Stops PostgreSQL with SIGQUIT, as `pg_ctl stop -m immediate` does, and starts it again. */
async function stopImmediately(postgres: Postgres, random: Random): Promise<void> {
  await postgres.kill();
  await sleep(random.integer(0, 4_000));
  await postgres.start();
}

const stopPostgres =
  ({ postgres }: FaultTargets, report: Report): Fault =>
  async (random) => {
    await stopImmediately(postgres, random);
    report.count("PostgreSQL stopped (-m immediate)");
  };

const stopWebhooksPostgres =
  ({ webhooksPostgres, interrupted }: FaultTargets, report: Report): Fault =>
  (random) =>
    interrupted.recordDuring(async (recordLeases) => {
      await stopImmediately(webhooksPostgres, random);
      report.count("PostgreSQL of webhooks stopped (-m immediate)");
      const endsAtMs = performance.now() + reconnectingMs;
      do {
        await recordLeases();
        await sleep(500);
      } while (performance.now() < endsAtMs);
    });

/** Sets a random clock one step back, one step ahead, or to the real time. */
const stepClock =
  ({ clocks }: FaultTargets, report: Report): Fault =>
  async (random) => {
    random.pick(clocks).set(random.pick([-stepMs, 0, stepMs]));
    report.count("wall clocks stepped by one or two hours");
  };

const failEndpoint =
  ({ receivers }: FaultTargets, behaviour: "failing" | "hanging", report: Report): Fault =>
  async (random, isFirst) => {
    const receiver = random.pick(receivers);
    receiver.behaviour = behaviour;
    report.count(`endpoints ${behaviour} for some seconds`);
    await sleep(isFirst ? 1_000 : random.integer(1_000, 8_000));
    receiver.behaviour = "accepting";
  };

const renameColumn =
  ({ webhooks }: FaultTargets, report: Report): Fault =>
  async (random) => {
    await rename(webhooks, "body", "body_renamed");
    if (await waitForColumnError(webhooks)) report.count("columns renamed");
    await sleep(random.integer(500, 3_000));
    await rename(webhooks, "body_renamed", "body");
  };

const undefinedColumn = "42703";

/** Renames a column. Repeats the statement until it succeeds, because PostgreSQL may be down. */
async function rename(webhooks: Pool, from: string, to: string): Promise<void> {
  for (;;) {
    try {
      await webhooks.query(`alter table event rename column ${from} to ${to}`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code === undefinedColumn) return;
      await sleep(200);
    }
  }
}

/**
 * Waits until webhooks fails to store an event because of the renamed column. Returns false if this
 * does not happen in time, for example because Kafka is down.
 */
async function waitForColumnError(webhooks: Pool): Promise<boolean> {
  const query =
    "select 1 from dead_letter where reason like '%does not exist%' and updated_at > clock_timestamp() - interval '1 second'";
  const endsAtMs = performance.now() + kafkaDownMsMax;
  while (performance.now() < endsAtMs) {
    if ((await webhooks.query(query).catch(() => undefined))?.rowCount) return true;
    await sleep(250);
  }
  return false;
}

const sendIntruderMessages =
  ({ sendAsIntruder }: FaultTargets): Fault =>
  async () => {
    const endsAtMs = performance.now() + kafkaDownMsMax;
    for (let sentCount = 0; sentCount < 8 && performance.now() < endsAtMs; ) {
      if (await sendAsIntruder()) sentCount++;
      await sleep(100);
    }
  };
