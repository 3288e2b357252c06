import { acceptsConnections } from "./accepts-connections.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { startKafkaInDocker } from "./kafka/docker-kafka.ts";
import { startKafka } from "./kafka/java-kafka.ts";
import type { Progress } from "./progress.ts";

/** How events travel between the services: `auto` is the first way that works. */
export const eventChoices = ["auto", "kafka", "docker", "direct"] as const;
export type EventChoice = (typeof eventChoices)[number];

export interface EventTransportOptions {
  choice: EventChoice;
  /** KAFKA_BROKERS: host:port of brokers that already run, separated by commas. */
  brokers?: string | undefined;
  /** Holds the data of a Kafka that is started here. */
  dir: string;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/** `how` tells a person which transport it is, and why. `stop` is safe to call again. */
export type EventTransport =
  | { readonly mode: "kafka"; readonly brokers: string; readonly how: string; stop(): Promise<void> }
  | { readonly mode: "direct"; readonly how: string; stop(): Promise<void> };

const docker = { name: "Docker engine", start: startKafkaInDocker };
const java = { name: "Java with Maven", start: startKafka };

/**
 * Makes the transport that was chosen available. Brokers that are given are used for `auto` and
 * `kafka`; an explicit `docker` or `direct` goes before them. Throws DevEnvError when the choice
 * cannot be had; `auto` always can, because `direct` needs nothing.
 */
export async function startEventTransport(options: EventTransportOptions): Promise<EventTransport> {
  const { choice, brokers } = options;
  if (choice === "direct") return direct(brokers ? "asked for, so KAFKA_BROKERS is not used" : "asked for");
  if (choice === "docker") return firstThatWorks([docker], options);
  if (brokers) return givenBrokers(brokers);
  return firstThatWorks([docker, java], options);
}

async function firstThatWorks(
  ways: readonly (typeof docker | typeof java)[],
  options: EventTransportOptions,
): Promise<EventTransport> {
  const refusals: string[] = [];
  const nextSteps: string[] = [];
  const without = () => refusals.map((refusal) => `no ${refusal}`);
  for (const { name, start } of ways) {
    try {
      const { version, brokers, stop } = await start(options);
      const how = oneLine([`Kafka ${version} at ${brokers}, by ${name}`, ...without()].join("; "));
      return { mode: "kafka", brokers, how, stop };
    } catch (error) {
      options.signal?.throwIfAborted();
      const { problem, nextStep } = error instanceof DevEnvError ? error : { problem: String(error), nextStep: "Try again." };
      refusals.push(`${name}: ${problem.replace(/\.$/, "")}`);
      nextSteps.push(nextStep);
    }
  }
  if (options.choice === "auto") return direct(without().join("; "));
  nextSteps.push("Set KAFKA_BROKERS to a Kafka that runs, or choose direct events.");
  throw new DevEnvError(
    `No Kafka could be started (events: ${options.choice}).\n${listOf(refusals)}`,
    `One of these helps:\n${listOf(nextSteps)}`,
  );
}

async function givenBrokers(brokers: string): Promise<EventTransport> {
  const addresses = brokers.split(",").map((address) => address.trim());
  const reachable = await Promise.all(addresses.map(isReachable));
  if (!reachable.includes(true)) {
    throw new DevEnvError(
      `KAFKA_BROKERS is ${brokers}, but nothing accepts connections there.`,
      "Start that Kafka, correct the address (host:port, separated by commas), or unset KAFKA_BROKERS.",
    );
  }
  return { mode: "kafka", brokers, how: `Kafka at ${brokers}, because KAFKA_BROKERS is set`, stop: async () => {} };
}

async function isReachable(address: string): Promise<boolean> {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
  return host !== undefined && Number(port) <= 65_535 && (await acceptsConnections(host, Number(port)));
}

function direct(why: string): EventTransport {
  return { mode: "direct", how: oneLine(`direct calls between the services, at least once; ${why}`), stop: async () => {} };
}

const listOf = (lines: readonly string[]) => lines.map((line) => `  - ${line}`).join("\n");

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, " ");
