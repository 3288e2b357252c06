import type { Kafka } from "@amana/dev-env/kafka/kafka";
import type { Postgres } from "@amana/dev-env/postgres";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Clock } from "./clock.ts";
import { type Fault, type FaultyProcesses, faultsOf } from "./process-faults.ts";
import type { Receiver } from "./receive-events.ts";

/** A Kafka that comes back slowly takes nothing for as long. */
const kafkaAwayMsMax = 180_000;
/** After PostgreSQL is back, its clients notice; the records of some POSTs are given up till then. */
const reconnectingMs = 4_000;
/** More than an hour, which is what brokers bear of a publisher by default. */
const stepMs = 61 * 60 * 1000;

interface Faulty extends FaultyProcesses {
  /** One after the other is lost, and now and then all at once. */
  readonly brokers: readonly Kafka[];
  /** Of all services but webhooks, which has one of its own. */
  readonly postgres: Postgres;
  readonly postgresOfWebhooks: Postgres;
  /** Of consumers and relays. */
  readonly clocks: readonly Clock[];
  readonly receivers: readonly Receiver[];
  /** As the owner of the tables. */
  readonly webhooks: Pool;
  /** Answers whether it counts as one of the intruder's acts. */
  act(): Promise<boolean>;
}

/** Side by side, most kinds at least once, until the signal; then everything runs again. */
export async function makeFaults(
  faulty: Faulty,
  { random, report, signal }: { random: Random; report: Report; signal: AbortSignal },
): Promise<void> {
  const again = async (pauseMsMax: number, once: readonly Fault[], others: readonly Fault[] = []) => {
    const chances = random.fork();
    const all = [...once, ...others];
    for (let turn = 0; turn < once.length || !signal.aborted; turn++) {
      const first = once[turn];
      await sleep(chances.integer(100, first ? 1_000 : pauseMsMax), first ? undefined : signal);
      if (first || !signal.aborted) await (first ?? chances.pick(all))(chances, first !== undefined);
    }
  };
  const { consumers, guest, relays } = faultsOf(faulty, report);
  await Promise.all([
    again(6_000, ...consumers),
    again(6_000, ...relays),
    again(5_000, ...guest),
    again(15_000, [loseBrokers(faulty, report)]),
    again(15_000, [stopPostgresOfWebhooks(faulty, report), stopPostgres(faulty, report)]),
    again(6_000, [stepClock(faulty, report)]),
    again(5_000, [misbehave(faulty, "failing", report), misbehave(faulty, "hanging", report)]),
    again(8_000, [takeColumnAway(faulty, report)]),
    again(600, [intrude(faulty)]),
  ]);
  for (const clock of faulty.clocks) clock.set(0);
}

function loseBrokers({ brokers }: Faulty, report: Report): Fault {
  let turn = 0;
  return async (random, isFirst) => {
    const lost = isFirst || random.chance(0.9) ? brokers.slice(turn, turn + 1) : brokers;
    turn = (turn + 1) % brokers.length;
    await Promise.all(lost.map((broker) => broker.kill()));
    report.count("brokers killed (-9)", lost.length);
    if (lost.length > 1) report.count("all brokers at once");
    await sleep(random.integer(200, 3_000));
    await Promise.all(lost.map((broker) => broker.start()));
  };
}

/** SIGQUIT, which is what `pg_ctl stop -m immediate` sends. */
async function stopAtOnce(postgres: Postgres, random: Random): Promise<void> {
  await postgres.kill();
  await sleep(random.integer(0, 4_000));
  await postgres.start();
}

const stopPostgres =
  ({ postgres }: Faulty, report: Report): Fault =>
  async (random) => {
    await stopAtOnce(postgres, random);
    report.count("PostgreSQL stopped (-m immediate)");
  };

const stopPostgresOfWebhooks =
  ({ postgresOfWebhooks, interrupted }: Faulty, report: Report): Fault =>
  (random) =>
    interrupted.by(async (look) => {
      await stopAtOnce(postgresOfWebhooks, random);
      report.count("PostgreSQL of webhooks stopped (-m immediate)");
      const endsAtMs = performance.now() + reconnectingMs;
      do {
        await look();
        await sleep(500);
      } while (performance.now() < endsAtMs);
    });

/** A clock that was stepped stays so until its next step. */
const stepClock =
  ({ clocks }: Faulty, report: Report): Fault =>
  async (random) => {
    random.pick(clocks).set(random.pick([-stepMs, 0, stepMs]));
    report.count("wall clocks stepped by an hour or two");
  };

const misbehave =
  ({ receivers }: Faulty, mood: "failing" | "hanging", report: Report): Fault =>
  async (random, isFirst) => {
    const receiver = random.pick(receivers);
    receiver.mood = mood;
    report.count(`endpoints ${mood} for a while`);
    await sleep(isFirst ? 1_000 : random.integer(1_000, 8_000));
    receiver.mood = "fine";
  };

const takeColumnAway =
  ({ webhooks }: Faulty, report: Report): Fault =>
  async (random) => {
    await rename(webhooks, "body", "body_away");
    if (await isMissed(webhooks)) report.count("columns taken away");
    await sleep(random.integer(500, 3_000));
    await rename(webhooks, "body_away", "body");
  };

const undefinedColumn = "42703";

/** Until it is done: PostgreSQL may be away, or go away with the answer. */
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

/** While Kafka is away, no event misses a column. Waits for one that does. */
async function isMissed(webhooks: Pool): Promise<boolean> {
  const missed =
    "select 1 from dead_letter where reason like '%does not exist%' and updated_at > clock_timestamp() - interval '1 second'";
  const endsAtMs = performance.now() + kafkaAwayMsMax;
  while (performance.now() < endsAtMs) {
    if ((await webhooks.query(missed).catch(() => undefined))?.rowCount) return true;
    await sleep(250);
  }
  return false;
}

const intrude =
  ({ act }: Faulty): Fault =>
  async () => {
    const endsAtMs = performance.now() + kafkaAwayMsMax;
    for (let done = 0; done < 8 && performance.now() < endsAtMs; ) {
      if (await act()) done++;
      await sleep(100);
    }
  };
