import { until } from "@amana/dev-env/eventually";
import type { ServiceProcess } from "@amana/dev-env/service-process";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { InterruptedDeliveries } from "./interrupted-deliveries.ts";

/** Injects a fault and removes it again. */
export type Fault = (random: Random, isFirst: boolean) => Promise<void>;

/** Processes into which faults are injected. */
export interface ProcessTargets {
  readonly consumers: readonly ServiceProcess[];
  /** A consumer that is stopped at first and joins for some seconds at a time. */
  readonly guest: ServiceProcess;
  /** Exactly two. */
  readonly relays: readonly ServiceProcess[];
  readonly interrupted: InterruptedDeliveries;
}

/** Runs a fault, which calls `recordLeases` when it may have lost the result of a POST. */
type Around = (fault: (recordLeases: () => Promise<void>) => Promise<void>) => Promise<void>;

/** Longer than the session of a consumer or relay, which is 6 s. */
const frozenMs = 9_000;
/** Longer than the lease of a delivery, which is 30 s. */
const longFrozenMs = 35_000;
/** Statement timeout of a service. */
const statementMsMax = 5_000;
/** Time limit to reach a fault point. A process may not reach it while Kafka is down. */
const faultPointMsMax = 180_000;
/** A process that takes longer to stop was killed before its graceful shutdown ended. */
const stoppedMsMax = 29_000;

/**
 * Returns the faults of each kind of process: a list in which each happens at least once, and
 * optionally a list of further ones. Faults of one kind of process are serialized.
 */
export function createProcessFaults({ consumers, guest, relays, interrupted }: ProcessTargets, report: Report) {
  const aroundConsumers: Around = (fault) => interrupted.during(fault);
  // Inboxes drop every message that a relay publishes twice.
  const aroundRelays: Around = (fault) => fault(async () => {});

  const pick = (random: Random, replicas: readonly ServiceProcess[]) => {
    const replica = random.pick(replicas);
    report.check("no process exited unexpectedly", replica.running(), () => `${replica.name}: ${replica.recentOutput()}`);
    return replica;
  };

  const freeze =
    (replicas: readonly ServiceProcess[], counter: string, around: Around): Fault =>
    async (random, isFirst) => {
      const pid = pick(random, replicas).pid();
      if (pid === undefined) return;
      const isLong = !isFirst && random.chance(0.15);
      const endsAtMs = performance.now() + (isLong ? longFrozenMs : isFirst ? frozenMs : random.integer(200, frozenMs));
      await around(async (recordLeases) => {
        process.kill(pid, "SIGSTOP");
        report.count(`${counter} frozen (SIGSTOP)${isLong ? ", longer than a lease" : ""}`);
        await recordLeases();
        // A running statement may still lease deliveries until the statement timeout.
        await sleep(Math.max(0, Math.min(statementMsMax, endsAtMs - performance.now())));
        await recordLeases();
        await sleep(Math.max(0, endsAtMs - performance.now()));
        process.kill(pid, "SIGCONT");
      });
    };

  const kill = (replica: ServiceProcess, counter: string, around: Around) =>
    around(async (recordLeases) => {
      await replica.kill();
      report.count(counter);
      await recordLeases();
    });

  const killAndRestart =
    (replicas: readonly ServiceProcess[], counter: string, around: Around): Fault =>
    async (random) => {
      const replica = pick(random, replicas);
      await kill(replica, `${counter} killed (-9)`, around);
      await sleep(random.integer(0, 2_000));
      await replica.start();
    };

  /**
   * Lets the process kill itself at a fault point. Kills it if it does not reach the point in time.
   */
  const killAt = async (replica: ServiceProcess, point: string, counter: string, around: Around) => {
    await replica.start({ FAULT_POINT: point });
    await around(async (recordLeases) => {
      if (await until(() => !replica.running(), faultPointMsMax)) report.count(counter);
      else {
        await replica.kill();
        report.count("processes killed (-9) before their fault point");
      }
      await recordLeases();
    });
  };

  const joinAndLeave =
    (leave: () => Promise<void>): Fault =>
    async (random, isFirst) => {
      await guest.start();
      report.count("replicas joined");
      await sleep(isFirst ? 3_000 : random.integer(500, 8_000));
      await leave();
    };
  const leaveGracefully = () =>
    aroundConsumers(async (recordLeases) => {
      const beganMs = performance.now();
      await guest.stop();
      const isGraceful = performance.now() - beganMs < stoppedMsMax;
      report.count(isGraceful ? "replicas left (SIGTERM)" : "replicas left too late, killed (-9)");
      // A graceful shutdown releases interrupted deliveries and records finished attempts.
      if (!isGraceful) await recordLeases();
    });

  const dieAtC6: Fault = async () => {
    // The replica that starts first becomes the relay.
    await Promise.all(relays.map((relay) => relay.kill()));
    report.count("relays killed (-9)", relays.length);
    await killAt(relays[0] as ServiceProcess, "relay.published", "relays killed at C6, published", aroundRelays);
    await Promise.all(relays.map((relay) => relay.start()));
  };
  const dieAtC7 = () => killAt(guest, "consumer.committed", "consumers killed at C7, committed", aroundConsumers);
  const dieAtC8: Fault = async (random) => {
    const replica = pick(random, consumers);
    await kill(replica, "consumers killed (-9)", aroundConsumers);
    await killAt(replica, "delivery.posted", "consumers killed at C8, sent", aroundConsumers);
    await replica.start();
  };

  return {
    // The leases of a killed process expire after 30 s. These faults come first, so that a short
    // run does not have to wait for leases of later ones.
    consumers: [
      [dieAtC8, freeze(consumers, "consumers", aroundConsumers)],
      [killAndRestart(consumers, "consumers", aroundConsumers)],
    ],
    guest: [[dieAtC7, joinAndLeave(leaveGracefully)], [joinAndLeave(() => kill(guest, "replicas left (-9)", aroundConsumers))]],
    relays: [[dieAtC6, freeze(relays, "relays", aroundRelays)], [killAndRestart(relays, "relays", aroundRelays)]],
  } satisfies Record<string, [once: Fault[], others?: Fault[]]>;
}
