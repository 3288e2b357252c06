import type { Tls } from "@amana/rpc";
import type { EnvReader, Logger } from "@amana/runtime";
import { createDirectTransport } from "./direct.ts";
import { createKafkaTransport } from "./kafka.ts";
import type { Transport } from "./message.ts";

/** Where events go: to Kafka, or straight to the consumers' RPC addresses. */
export type TransportOptions =
  | { readonly kind: "kafka"; readonly brokers: readonly string[] }
  | { readonly kind: "direct"; readonly subscribers: Readonly<Record<string, readonly string[]>> };

/**
 * KAFKA_BROKERS (host:port, comma-separated) means Kafka. Without it, DIRECT_SUBSCRIBERS names who receives what:
 * "payments.v1=http://127.0.0.1:4001,kyc.v1=http://127.0.0.1:4001".
 */
export function readTransportOptions(env: EnvReader): TransportOptions {
  const brokers = env.list("KAFKA_BROKERS");
  if (brokers.length > 0) return { kind: "kafka", brokers };
  const subscribers: Record<string, string[]> = {};
  for (const entry of env.list("DIRECT_SUBSCRIBERS")) {
    const [topic = "", url = ""] = entry.split("=");
    if (!URL.canParse(url)) env.problem(`DIRECT_SUBSCRIBERS must be topic=address pairs, not "${entry}"`);
    subscribers[topic] = [...(subscribers[topic] ?? []), url];
  }
  return { kind: "direct", subscribers };
}

/** `clientId` is the service's name. Does not connect yet: an unreachable Kafka keeps no service from starting. */
export function createTransport(
  options: TransportOptions,
  context: { clientId: string; tls?: Tls | undefined; logger: Logger },
): Transport {
  return options.kind === "kafka"
    ? createKafkaTransport(options.brokers, context)
    : createDirectTransport(options.subscribers, context);
}
