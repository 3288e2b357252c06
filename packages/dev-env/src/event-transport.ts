import { connect } from "node:net";
import { DevEnvError } from "./dev-env-error.ts";
import { startKafka, startKafkaInDocker } from "./kafka.ts";
import type { Progress } from "./progress.ts";

/** How events travel between the services: `auto` is the first way that works. */
export type EventChoice = "auto" | "kafka" | "docker" | "direct";

export interface EventTransportOptions {
  choice: EventChoice;
  /** KAFKA_BROKERS: host:port of brokers that already run, separated by commas. */
  brokers?: string | undefined;
  /** Holds the data of a Kafka that is started here. */
  dir: string;
  progress: Progress;
}

/** `how` tells a person which transport it is, and why. `stop` is safe to call again. */
export type EventTransport =
  | { readonly mode: "kafka"; readonly brokers: string; readonly how: string; stop(): Promise<void> }
  | { readonly mode: "direct"; readonly how: string; stop(): Promise<void> };

const docker = { name: "Docker engine", start: startKafkaInDocker };
const java = { name: "Java with Maven", start: startKafka };

const connectTimeoutMs = 3_000;

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
  const refusals: { way: string; error: unknown }[] = [];
  for (const way of ways) {
    try {
      const kafka = await way.start(options);
      const reasons = refusals.map((refusal) => `; no ${refusal.way}: ${problemOf(refusal.error)}`);
      return {
        mode: "kafka",
        brokers: kafka.brokers,
        how: oneLine(`Kafka ${kafka.version} at ${kafka.brokers}, by ${way.name}${reasons.join("")}`),
        stop: kafka.stop,
      };
    } catch (error) {
      refusals.push({ way: way.name, error });
    }
  }
  if (options.choice === "auto") {
    return direct(refusals.map(({ way, error }) => `no ${way}: ${problemOf(error)}`).join("; "));
  }
  throw new DevEnvError(
    `No Kafka could be started (events: ${options.choice}).\n${refusals.map(({ way, error }) => `  - ${way}: ${problemOf(error)}`).join("\n")}`,
    [
      "One of these helps:",
      ...refusals.map(({ error }) => `  - ${error instanceof DevEnvError ? error.nextStep : "Try again."}`),
      "  - Set KAFKA_BROKERS to a Kafka that runs, or choose direct events.",
    ].join("\n"),
    { cause: refusals.at(-1)?.error },
  );
}

async function givenBrokers(brokers: string): Promise<EventTransport> {
  const addresses = brokers.split(",").map((address) => address.trim());
  const reachable = await Promise.all(addresses.map(acceptsConnections));
  if (!reachable.includes(true)) {
    throw new DevEnvError(
      `KAFKA_BROKERS is ${brokers}, but nothing accepts connections there.`,
      "Start that Kafka, correct the address (host:port, separated by commas), or unset KAFKA_BROKERS.",
    );
  }
  return { mode: "kafka", brokers, how: `Kafka at ${brokers}, because KAFKA_BROKERS is set`, stop: async () => {} };
}

function acceptsConnections(address: string): Promise<boolean> {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
  if (host === undefined || port === undefined || Number(port) > 65_535) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: connectTimeoutMs });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("connect", () => end(true));
    socket.on("timeout", () => end(false));
    socket.on("error", () => end(false));
  });
}

function direct(why: string): EventTransport {
  return { mode: "direct", how: oneLine(`direct calls between the services, at least once; ${why}`), stop: async () => {} };
}

function problemOf(error: unknown): string {
  const text = error instanceof DevEnvError ? error.problem : String(error);
  return text.replace(/\.$/, "");
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}
