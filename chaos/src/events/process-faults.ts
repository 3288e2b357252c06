import { waitUntil } from "@amana/dev-env/eventually";
import type { ServiceProcess } from "@amana/dev-env/service-process";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { InterruptedDeliveries } from "./interrupted-deliveries.ts";

/** Injects a fault and, at the end, removes it. */
export type Fault = (random: Random, isFirst: boolean) => Promise<void>;

/** Processes into which faults are injected. */
export interface ProcessTargets {
  readonly consumers: readonly ServiceProcess[];
  /** A consumer that is not running at first. Faults start it for some seconds at a time. */
  readonly extraConsumer: ServiceProcess;
  /** Exactly two replicas. */
  readonly relays: readonly ServiceProcess[];
  readonly interrupted: InterruptedDeliveries;
}

/** Runs a fault, which must call `recordLeases` when the result of a POST may be lost. */
type FaultRunner = (fault: (recordLeases: () => Promise<void>) => Promise<void>) => Promise<void>;

/** Longer than the session timeout of a consumer or relay, which is 6 s. */
const frozenMs = 9_000;
/** Longer than the lease of a delivery, which is 30 s. */
const longFrozenMs = 35_000;
/** Statement timeout of a service. */
const statementMsMax = 5_000;
/**
 * Maximum wait for a process to reach a fault point. Some fault points can be reached only while
 * Kafka runs.
 */
const faultPointMsMax = 180_000;
/** Maximum duration of a graceful shutdown. A process that needed longer was killed. */
const stoppedMsMax = 29_000;

/**
 * Returns a list of required faults and a list of optional faults for each kind of process. Each
 * required fault is injected at least once. Faults of one kind of process never overlap.
 */
export function createProcessFaults({ consumers, extraConsumer, relays, interrupted }: ProcessTargets, report: Report) {
  const recordConsumerLeases: FaultRunner = (fault) => interrupted.recordDuring(fault);
  // Records no leases. A fault of a relay cannot cause a repeated delivery, because the consumers'
  // inboxes drop every message that a relay publishes twice.
  const runRelayFault: FaultRunner = (fault) => fault(async () => {});

  const pick = (random: Random, replicas: readonly ServiceProcess[]) => {
    const replica = random.pick(replicas);
    report.check("no process exited unexpectedly", replica.isRunning(), () => `${replica.name}: ${replica.recentOutput()}`);
    return replica;
  };

  const freeze =
    (replicas: readonly ServiceProcess[], counter: string, runFault: FaultRunner): Fault =>
    async (random, isFirst) => {
      const pid = pick(random, replicas).pid();
      if (pid === undefined) return;
      const isLong = !isFirst && random.chance(0.15);
      const endsAtMs = performance.now() + (isLong ? longFrozenMs : isFirst ? frozenMs : random.integer(200, frozenMs));
      await runFault(async (recordLeases) => {
        process.kill(pid, "SIGSTOP");
        report.count(`${counter} frozen (SIGSTOP)${isLong ? ", longer than a lease" : ""}`);
        await recordLeases();
        // A statement that runs at the freeze may still lease deliveries until its timeout.
        await sleep(Math.max(0, Math.min(statementMsMax, endsAtMs - performance.now())));
        await recordLeases();
        await sleep(Math.max(0, endsAtMs - performance.now()));
        process.kill(pid, "SIGCONT");
      });
    };

  const kill = (replica: ServiceProcess, counter: string, runFault: FaultRunner) =>
    runFault(async (recordLeases) => {
      await replica.kill();
      report.count(counter);
      await recordLeases();
    });

  const killAndRestart =
    (replicas: readonly ServiceProcess[], counter: string, runFault: FaultRunner): Fault =>
    async (random) => {
      const replica = pick(random, replicas);
      await kill(replica, `${counter} killed (-9)`, runFault);
      await sleep(random.integer(0, 2_000));
      await replica.start();
    };

  /**
   * Starts a process that kills itself at `point`. Kills the process if it does not reach this
   * fault point in time.
   */
  const killAt = async (replica: ServiceProcess, point: string, counter: string, runFault: FaultRunner) => {
    await replica.start({ FAULT_POINT: point });
    await runFault(async (recordLeases) => {
      if (await waitUntil(() => !replica.isRunning(), faultPointMsMax)) report.count(counter);
      else {
        await replica.kill();
        report.count("processes killed (-9) before their fault point");
      }
      await recordLeases();
    });
  };

  const runExtraConsumer =
    (stop: () => Promise<void>): Fault =>
    async (random, isFirst) => {
      await extraConsumer.start();
      report.count("extra consumers started");
      await sleep(isFirst ? 3_000 : random.integer(500, 8_000));
      await stop();
    };
  const stopExtraConsumer = () =>
    recordConsumerLeases(async (recordLeases) => {
      const startedMs = performance.now();
      await extraConsumer.stop();
      const isGraceful = performance.now() - startedMs < stoppedMsMax;
      report.count(isGraceful ? "extra consumers stopped (SIGTERM)" : "extra consumers killed (-9) during a slow shutdown");
      // After a graceful shutdown, no leases need to be recorded, because webhooks has released
      // interrupted deliveries and recorded finished attempts.
      if (!isGraceful) await recordLeases();
    });

  const killRelayAfterPublishing: Fault = async () => {
    // Kills all replicas. The replica that then starts first becomes the relay, so it must be the
    // one with the fault point.
    await Promise.all(relays.map((relay) => relay.kill()));
    report.count("relays killed (-9)", relays.length);
    await killAt(relays[0] as ServiceProcess, "relay.published", "relays killed at relay.published", runRelayFault);
    await Promise.all(relays.map((relay) => relay.start()));
  };
  const killExtraConsumerAfterCommit = () =>
    killAt(extraConsumer, "consumer.committed", "consumers killed at consumer.committed", recordConsumerLeases);
  const killConsumerAfterPost: Fault = async (random) => {
    const replica = pick(random, consumers);
    await kill(replica, "consumers killed (-9)", recordConsumerLeases);
    await killAt(replica, "delivery.posted", "consumers killed at delivery.posted", recordConsumerLeases);
    await replica.start();
  };

  return {
    // The leases of a killed process expire only after 30 s. Short runs inject only the required
    // faults, so that they do not wait for the leases of processes that optional faults kill.
    consumers: [
      [killConsumerAfterPost, freeze(consumers, "consumers", recordConsumerLeases)],
      [killAndRestart(consumers, "consumers", recordConsumerLeases)],
    ],
    extraConsumer: [
      [killExtraConsumerAfterCommit, runExtraConsumer(stopExtraConsumer)],
      [runExtraConsumer(() => kill(extraConsumer, "extra consumers killed (-9)", recordConsumerLeases))],
    ],
    relays: [
      [killRelayAfterPublishing, freeze(relays, "relays", runRelayFault)],
      [killAndRestart(relays, "relays", runRelayFault)],
    ],
  } satisfies Record<string, [required: Fault[], optional?: Fault[]]>;
}
