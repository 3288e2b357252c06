import type { Kafka } from "@amana/dev-env/kafka/kafka";
import type { ServiceProcess } from "@amana/dev-env/service-process";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

/** Longer than a consumer's session and a relay's, which are 6 s. */
const frozenMs = 9_000;
/** A Kafka that comes back slowly takes nothing for as long. */
const kafkaAwayMsMax = 60_000;

/** Side by side, each kind at least once, until the signal; then everything runs again. */
export async function makeFaults(options: {
  /** One after the other is lost, and now and then all at once. */
  brokers: readonly Kafka[];
  consumers: readonly ServiceProcess[];
  relays: readonly ServiceProcess[];
  /** As the owner of the tables. */
  webhooks: Pool;
  /** Answers whether it counts as one of the intruder's acts. */
  act: () => Promise<boolean>;
  random: Random;
  report: Report;
  signal: AbortSignal;
}): Promise<void> {
  const { brokers, consumers, relays, webhooks, report, signal } = options;
  const again = async (pauseMsMax: number, trouble: (random: Random, isFirst: boolean) => Promise<void>) => {
    const random = options.random.fork();
    for (let isFirst = true; isFirst || !signal.aborted; isFirst = false) {
      await sleep(random.integer(100, isFirst ? 1_500 : pauseMsMax), isFirst ? undefined : signal);
      if (isFirst || !signal.aborted) await trouble(random, isFirst);
    }
  };
  const killOrFreeze = (what: string, replicas: readonly ServiceProcess[]) => async (random: Random, isFirst: boolean) => {
    const replica = random.pick(replicas);
    const pid = replica.pid();
    if (pid !== undefined && (isFirst || random.chance(0.4))) {
      process.kill(pid, "SIGSTOP");
      report.count(`${what} frozen (SIGSTOP)`);
      await sleep(isFirst ? frozenMs : random.integer(200, frozenMs));
      process.kill(pid, "SIGCONT");
      return;
    }
    await replica.kill();
    report.count(`${what} killed (-9)`);
    await sleep(random.integer(0, 2_000));
    await replica.start();
  };
  let turn = 0;
  await Promise.all([
    again(15_000, async (random, isFirst) => {
      const lost = isFirst || random.chance(0.9) ? brokers.slice(turn, turn + 1) : brokers;
      turn = (turn + 1) % brokers.length;
      await Promise.all(lost.map((broker) => broker.kill()));
      report.count("brokers killed (-9)", lost.length);
      if (lost.length > 1) report.count("all brokers at once");
      await sleep(random.integer(200, 3_000));
      await Promise.all(lost.map((broker) => broker.start()));
    }),
    again(6_000, killOrFreeze("consumers", consumers)),
    again(6_000, killOrFreeze("relays", relays)),
    again(8_000, async (random) => {
      await webhooks.query("alter table event rename column body to body_away");
      if (await isMissed(webhooks)) report.count("columns taken away");
      await sleep(random.integer(500, 3_000));
      await webhooks.query("alter table event rename column body_away to body");
    }),
    again(600, async () => {
      const endsAtMs = performance.now() + kafkaAwayMsMax;
      for (let done = 0; done < 8 && performance.now() < endsAtMs; ) {
        if (await options.act()) done++;
        await sleep(100);
      }
    }),
  ]);
}

/** While Kafka is away, no event misses a column. Waits for one that does. */
async function isMissed(webhooks: Pool): Promise<boolean> {
  const missed =
    "select 1 from dead_letter where reason like '%does not exist%' and updated_at > clock_timestamp() - interval '1 second'";
  const endsAtMs = performance.now() + kafkaAwayMsMax;
  while (performance.now() < endsAtMs) {
    if ((await webhooks.query(missed)).rowCount) return true;
    await sleep(250);
  }
  return false;
}
