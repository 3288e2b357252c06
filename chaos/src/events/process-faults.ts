import { until } from "@amana/dev-env/eventually";
import type { ServiceProcess } from "@amana/dev-env/service-process";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { Interrupted } from "./interrupted.ts";

/** Injects a fault and mends it. */
export type Fault = (random: Random, isFirst: boolean) => Promise<void>;

/** The processes that get faults. */
export interface FaultyProcesses {
  readonly consumers: readonly ServiceProcess[];
  /** A consumer that is not started: it joins and leaves. */
  readonly guest: ServiceProcess;
  /** Two. */
  readonly relays: readonly ServiceProcess[];
  readonly interrupted: Interrupted;
}

/** Runs a fault that calls `look` when it may have lost the record of a POST. */
type Around = (trouble: (look: () => Promise<void>) => Promise<void>) => Promise<void>;

/** Longer than a consumer's session and a relay's, which are 6 s. */
const frozenMs = 9_000;
/** Longer than the lease of a delivery, which is 30 s. */
const longFrozenMs = 35_000;
/** Of a service. */
const statementMsMax = 5_000;
/** A process may not come to the point where it kills itself, for example while Kafka is away. */
const dyingMsMax = 180_000;
/** A process that has not stopped in good order by then was killed. */
const stoppedMsMax = 29_000;

/** What happens to processes, by what they are: each at least once, and others; one at a time. */
export function faultsOf({ consumers, guest, relays, interrupted }: FaultyProcesses, report: Report) {
  const ofConsumers: Around = (trouble) => interrupted.by(trouble);
  // Whatever a relay publishes twice, inboxes drop.
  const ofRelays: Around = (trouble) => trouble(async () => {});

  const pick = (random: Random, replicas: readonly ServiceProcess[]) => {
    const replica = random.pick(replicas);
    report.check("no process ended by itself", replica.running(), () => `${replica.name}: ${replica.recentOutput()}`);
    return replica;
  };

  const freeze =
    (replicas: readonly ServiceProcess[], what: string, around: Around): Fault =>
    async (random, isFirst) => {
      const pid = pick(random, replicas).pid();
      if (pid === undefined) return;
      const isLong = !isFirst && random.chance(0.15);
      const endsAtMs = performance.now() + (isLong ? longFrozenMs : isFirst ? frozenMs : random.integer(200, frozenMs));
      await around(async (look) => {
        process.kill(pid, "SIGSTOP");
        report.count(`${what} frozen (SIGSTOP)${isLong ? ", longer than a lease" : ""}`);
        await look();
        // A statement that was under way may lease something until its time is over.
        await sleep(Math.max(0, Math.min(statementMsMax, endsAtMs - performance.now())));
        await look();
        await sleep(Math.max(0, endsAtMs - performance.now()));
        process.kill(pid, "SIGCONT");
      });
    };

  const kill = (replica: ServiceProcess, what: string, around: Around) =>
    around(async (look) => {
      await replica.kill();
      report.count(what);
      await look();
    });

  const killAndRestart =
    (replicas: readonly ServiceProcess[], what: string, around: Around): Fault =>
    async (random) => {
      const replica = pick(random, replicas);
      await kill(replica, `${what} killed (-9)`, around);
      await sleep(random.integer(0, 2_000));
      await replica.start();
    };

  /** It kills itself at the point, or is killed when it does not come there in time. */
  const killAt = async (replica: ServiceProcess, point: string, what: string, around: Around) => {
    await replica.start({ FAULT_POINT: point });
    await around(async (look) => {
      if (await until(() => !replica.running(), dyingMsMax)) report.count(what);
      else {
        await replica.kill();
        report.count("killed (-9) before they came to their point");
      }
      await look();
    });
  };

  const visit =
    (leave: () => Promise<void>): Fault =>
    async (random, isFirst) => {
      await guest.start();
      report.count("replicas joined");
      await sleep(isFirst ? 3_000 : random.integer(500, 8_000));
      await leave();
    };
  const leaveInOrder = () =>
    ofConsumers(async (look) => {
      const beganMs = performance.now();
      await guest.stop();
      const isInOrder = performance.now() - beganMs < stoppedMsMax;
      report.count(isInOrder ? "replicas left (SIGTERM)" : "replicas left too late, killed (-9)");
      // What is cut off is given back, and what was answered is written down.
      if (!isInOrder) await look();
    });

  const dieAtC6: Fault = async () => {
    // Whoever starts first becomes the relay.
    await Promise.all(relays.map((relay) => relay.kill()));
    report.count("relays killed (-9)", relays.length);
    await killAt(relays[0] as ServiceProcess, "relay.published", "relays killed at C6, published", ofRelays);
    await Promise.all(relays.map((relay) => relay.start()));
  };
  const dieAtC7 = () => killAt(guest, "consumer.committed", "consumers killed at C7, committed", ofConsumers);
  const dieAtC8: Fault = async (random) => {
    const replica = pick(random, consumers);
    await kill(replica, "consumers killed (-9)", ofConsumers);
    await killAt(replica, "delivery.posted", "consumers killed at C8, sent", ofConsumers);
    await replica.start();
  };

  return {
    // Leases of who died end after 30 s, so these come first: a short run waits for no others.
    consumers: [[dieAtC8, freeze(consumers, "consumers", ofConsumers)], [killAndRestart(consumers, "consumers", ofConsumers)]],
    guest: [[dieAtC7, visit(leaveInOrder)], [visit(() => kill(guest, "replicas left (-9)", ofConsumers))]],
    relays: [[dieAtC6, freeze(relays, "relays", ofRelays)], [killAndRestart(relays, "relays", ofRelays)]],
  } satisfies Record<string, [once: Fault[], others?: Fault[]]>;
}
