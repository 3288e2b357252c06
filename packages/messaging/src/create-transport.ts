import type { Tls } from "@amana/rpc";
import type { EnvReader, Logger } from "@amana/runtime";
import { createDirectTransport } from "./direct-transport.ts";
import { readKafkaOptions } from "./kafka-options.ts";
import { createKafkaTransport } from "./kafka-transport.ts";
import { createMessageKeys, readMessageKeys } from "./message-keys.ts";
import type { Transport } from "./transport.ts";

/** Settings of the transport: Kafka, or the RPC addresses of the consumers. */
type TransportOptions = ReturnType<typeof readTransportOptions>;

/**
 * Pauses in seconds between the attempts to apply a failing message. The message is PARKED after
 * the last attempt, about five hours after the first attempt.
 */
export const eventRetrySeconds = "1,5,30,120,300,600,1200,1800,3600,3600,3600,3600";

/**
 * Reads the transport settings. EVENTS selects `kafka` (see readKafkaOptions) or `direct`. With
 * `direct`, DIRECT_SUBSCRIBERS lists the subscribers of each topic:
 * "payments.v1=http://127.0.0.1:4001,kyc.v1=http://127.0.0.1:4001". Reports a problem for an
 * emitted topic without a subscriber, and for a topic without a key.
 */
export function readTransportOptions(
  env: EnvReader,
  { emits, consumes }: { emits: readonly string[]; consumes: readonly string[] },
) {
  const keys = readMessageKeys(env, [...emits, ...consumes]);
  const kind = env.choice("EVENTS", ["kafka", "direct"]);
  if (kind === "kafka") return { kind, keys, ...readKafkaOptions(env) };
  const subscribers: Record<string, string[]> = {};
  for (const entry of env.list("DIRECT_SUBSCRIBERS")) {
    const [topic = "", url = ""] = entry.split("=");
    if (!URL.canParse(url)) env.problem(`DIRECT_SUBSCRIBERS must be topic=address pairs, not "${entry}"`);
    subscribers[topic] = [...(subscribers[topic] ?? []), url];
  }
  for (const topic of emits) {
    if (!subscribers[topic]) env.problem(`DIRECT_SUBSCRIBERS has no subscriber for ${topic}; add one, or set EVENTS=kafka`);
  }
  return { kind, keys, subscribers };
}

/**
 * Creates the transport. `clientId` is the service's name. Does not fail while Kafka is
 * unreachable, so that a service can start. Throws TopicAtRiskError in production if a topic could
 * lose events (see createKafkaTransport).
 */
export async function createTransport(
  options: TransportOptions,
  context: { clientId: string; tls?: Tls; logger: Logger },
): Promise<Transport> {
  const keys = createMessageKeys(options.keys);
  if (options.kind === "direct") return createDirectTransport(options.subscribers, { ...context, keys });
  const transport = createKafkaTransport(options, { ...context, keys });
  await transport.check(Object.keys(options.keys));
  return transport;
}
