import { acceptsConnections } from "./accepts-connections.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { startKafkaInDocker } from "./kafka/docker-kafka.ts";
import { startKafka } from "./kafka/java-kafka.ts";
import type { Progress } from "./progress.ts";

/** Transports of events between the services. `auto` selects the first transport that works. */
export const eventChoices = ["auto", "kafka", "docker", "direct"] as const;
export type EventChoice = (typeof eventChoices)[number];

interface EventTransportOptions {
  choice: EventChoice;
  /** KAFKA_BROKERS: host:port of running brokers, separated by commas. */
  brokers?: string;
  /** Data folder of a Kafka that `startEventTransport` starts. */
  dir: string;
  progress: Progress;
  signal?: AbortSignal;
}

/** `how` describes the transport and the reason in one line. `stop` is idempotent. */
type EventTransport =
  | { readonly mode: "kafka"; readonly brokers: string; readonly how: string; stop(): Promise<void> }
  | { readonly mode: "direct"; readonly how: string; stop(): Promise<void> };

const docker = { name: "Docker engine", start: startKafkaInDocker };
const java = { name: "Java with Maven", start: startKafka };

/**
 * Starts the chosen transport. `auto` and `kafka` use `brokers` if given; `docker` and `direct`
 * ignore them. Throws DevEnvError if the transport is unavailable. With `auto`, only unreachable
 * brokers cause this error, because `direct` needs no other program.
 */
export async function startEventTransport(options: EventTransportOptions): Promise<EventTransport> {
  const { choice, brokers } = options;
  if (choice === "direct")
    return useDirectCalls(brokers ? "direct was selected, so KAFKA_BROKERS is not used" : "direct was selected");
  if (choice === "docker") return startFirstAvailable([docker], options);
  if (brokers) return useBrokers(brokers);
  return startFirstAvailable([docker, java], options);
}

async function startFirstAvailable(
  candidates: readonly (typeof docker | typeof java)[],
  options: EventTransportOptions,
): Promise<EventTransport> {
  const failures: string[] = [];
  const nextSteps: string[] = [];
  const unavailable = () => failures.map((failure) => `no ${failure}`);
  for (const { name, start } of candidates) {
    try {
      const { version, brokers, stop } = await start(options);
      const how = joinLines([`Kafka ${version} at ${brokers}, by ${name}`, ...unavailable()].join("; "));
      return { mode: "kafka", brokers, how, stop };
    } catch (error) {
      options.signal?.throwIfAborted();
      const { problem, nextStep } = error instanceof DevEnvError ? error : { problem: String(error), nextStep: "Try again." };
      failures.push(`${name}: ${problem.replace(/\.$/, "")}`);
      nextSteps.push(nextStep);
    }
  }
  if (options.choice === "auto") return useDirectCalls(unavailable().join("; "));
  nextSteps.push("Set KAFKA_BROKERS to a running Kafka, or use --events=direct.");
  throw new DevEnvError(
    `Kafka could not be started (events: ${options.choice}).\n${formatList(failures)}`,
    `Do one of the following:\n${formatList(nextSteps)}`,
  );
}

async function useBrokers(brokers: string): Promise<EventTransport> {
  const addresses = brokers.split(",").map((address) => address.trim());
  const results = await Promise.all(addresses.map(isReachable));
  if (!results.includes(true)) {
    throw new DevEnvError(
      `KAFKA_BROKERS is ${brokers}, but no server accepts connections there.`,
      "Start that Kafka, correct the address (host:port, separated by commas), or unset KAFKA_BROKERS.",
    );
  }
  return { mode: "kafka", brokers, how: `Kafka at ${brokers}, because KAFKA_BROKERS is set`, stop: async () => {} };
}

async function isReachable(address: string): Promise<boolean> {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
  return host !== undefined && Number(port) <= 65_535 && (await acceptsConnections(host, Number(port)));
}

function useDirectCalls(reason: string): EventTransport {
  return {
    mode: "direct",
    how: joinLines(`direct calls between the services, with at-least-once delivery; ${reason}`),
    stop: async () => {},
  };
}

const formatList = (lines: readonly string[]) => lines.map((line) => `  - ${line}`).join("\n");

const joinLines = (text: string) => text.replace(/\s*\n\s*/g, " ");
