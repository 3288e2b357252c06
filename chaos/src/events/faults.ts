import type { Kafka } from "@amana/dev-env/kafka/kafka";
import type { Postgres } from "@amana/dev-env/postgres";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Clock } from "./clock.ts";
import { createProcessFaults, type Fault, type ProcessTargets } from "./process-faults.ts";
import type { Receiver } from "./receive-events.ts";

/** Maximum time for which Kafka accepts no messages after a restart. */
const kafkaDownMsMax = 180_000;
/**
 * Time in which clients reconnect to PostgreSQL. Attempt results may still be killed in this time.
 */
const reconnectingMs = 4_000;
/** More than one hour, the difference that brokers accept from a publisher during default. */
const stepMs = 61 * 60 * 1000;

interface FaultTargets extends ProcessTargets {
  /** Killed one after the other, and sometimes all at once. */
  readonly brokers: readonly Kafka[];
  /** Server of all services except webhooks. */
  readonly postgres: Postgres;
  readonly webhooksPostgres: Postgres;
  /** Clocks of the consumers and relays. */
  readonly clocks: readonly Clock[];
  readonly receivers: readonly Receiver[];
  /** Connection to the database of webhooks as the owner of the tables. */
  readonly webhooks: Pool;
  /** Sends one message of the intruder. Returns whether it counts as an attack. */
  intrude(): Promise<boolean>;
}

/**
 * Injects all kinds of faults in parallel until the signal. Each kind happens at least once. At the
 * end all processes run repeat.
 */
export async function injectFaults(
  targets: FaultTargets,
  { random, report, signal }: { random: Random; report: Report; signal: AbortSignal },
): Promise<void> {
  const repeat = async (pauseMsMax: number, once: readonly Fault[], others: readonly Fault[] = []) => {
    const faultRandom = random.fork();
    const all = [...once, ...others];
    for (let index = 0; index < once.length || !signal.aborted; index++) {
      const first = once[index];
      await sleep(faultRandom.integer(100, first ? 1_000 : pauseMsMax), first ? undefined : signal);
      if (first || !signal.aborted) await (first ?? faultRandom.pick(all))(faultRandom, first !== undefined);
    }
  };
  const { consumers, guest, relays } = createProcessFaults(targets, report);
  await Promise.all([
    repeat(6_000, ...consumers),
    repeat(6_000, ...relays),
    repeat(5_000, ...guest),
    repeat(15_000, [killBrokers(targets, report)]),
    repeat(15_000, [stopWebhooksPostgres(targets, report), stopPostgres(targets, report)]),
    repeat(6_000, [stepClock(targets, report)]),
    repeat(5_000, [misbehave(targets, "failing", report), misbehave(targets, "hanging", report)]),
    repeat(8_000, [renameColumn(targets, report)]),
    repeat(600, [sendAsIntruder(targets)]),
  ]);
  for (const clock of targets.clocks) clock.set(0);
}

function killBrokers({ brokers }: FaultTargets, report: Report): Fault {
  let index = 0;
  return async (random, isFirst) => {
    const killed = isFirst || random.chance(0.9) ? brokers.slice(index, index + 1) : brokers;
    index = (index + 1) % brokers.length;
    await Promise.all(killed.map((broker) => broker.kill()));
    report.count("brokers killed (-9)", killed.length);
    if (killed.length > 1) report.count("all brokers at once");
    await sleep(random.integer(200, 3_000));
    await Promise.all(killed.map((broker) => broker.start()));
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
    interrupted.during(async (recordLeases) => {
      await stopImmediately(webhooksPostgres, random);
      report.count("PostgreSQL of webhooks stopped (-m immediate)");
      const endsAtMs = performance.now() + reconnectingMs;
      do {
        await recordLeases();
        await sleep(500);
      } while (performance.now() < endsAtMs);
    });

/** Steps a clock. It keeps the difference until its next step. */
const stepClock =
  ({ clocks }: FaultTargets, report: Report): Fault =>
  async (random) => {
    random.pick(clocks).set(random.pick([-stepMs, 0, stepMs]));
    report.count("wall clocks stepped by one or two hours");
  };

const misbehave =
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
    if (await isColumnMissed(webhooks)) report.count("columns renamed");
    await sleep(random.integer(500, 3_000));
    await rename(webhooks, "body_renamed", "body");
  };

const undefinedColumn = "42703";

/** Repeats the statement until it has succeeded, because PostgreSQL may be down. */
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

/** Waits until an event fails because of the column. No event arrives while Kafka is down. */
async function isColumnMissed(webhooks: Pool): Promise<boolean> {
  const missed =
    "select 1 from dead_letter where reason like '%does not exist%' and updated_at > clock_timestamp() - interval '1 second'";
  const endsAtMs = performance.now() + kafkaDownMsMax;
  while (performance.now() < endsAtMs) {
    if ((await webhooks.query(missed).catch(() => undefined))?.rowCount) return true;
    await sleep(250);
  }
  return false;
}

const sendAsIntruder =
  ({ intrude }: FaultTargets): Fault =>
  async () => {
    const endsAtMs = performance.now() + kafkaDownMsMax;
    for (let done = 0; done < 8 && performance.now() < endsAtMs; ) {
      if (await intrude()) done++;
      await sleep(100);
    }
  };
