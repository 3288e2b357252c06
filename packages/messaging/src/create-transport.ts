import type { Tls } from "@amana/rpc";
import type { EnvReader, Logger } from "@amana/runtime";
import { createDirectTransport } from "./direct.ts";
import { createKafkaTransport } from "./kafka.ts";
import { readKafkaOptions } from "./kafka-options.ts";
import { createMessageKeys, readMessageKeys } from "./message-keys.ts";
import type { Transport } from "./transport.ts";

/** Where events go: to Kafka, or straight to the consumers' RPC addresses. */
export type TransportOptions = ReturnType<typeof readTransportOptions>;

/** Seconds between the attempts at a message that fails: five hours, then it is PARKED. */
export const eventRetrySeconds = "1,5,30,120,300,600,1200,1800,3600,3600,3600,3600";

/**
 * EVENTS says how events travel: `kafka` (readKafkaOptions) or `direct`, where DIRECT_SUBSCRIBERS
 * names who receives what: "payments.v1=http://127.0.0.1:4001,kyc.v1=http://127.0.0.1:4001". A
 * topic this service emits that nobody would receive, or one it has no key for, is a problem.
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
    if (!subscribers[topic]) env.problem(`DIRECT_SUBSCRIBERS names nobody who receives ${topic}; name one, or set EVENTS=kafka`);
  }
  return { kind, keys, subscribers };
}

/**
 * `clientId` is the service's name. An unreachable Kafka keeps no service from starting; in
 * production one that is there and would lose events does: see createKafkaTransport.
 */
export async function createTransport(
  options: TransportOptions,
  context: { clientId: string; tls?: Tls | undefined; logger: Logger },
): Promise<Transport> {
  const keys = createMessageKeys(options.keys);
  if (options.kind === "direct") return createDirectTransport(options.subscribers, { ...context, keys });
  const transport = createKafkaTransport(options, { ...context, keys });
  await transport.check(Object.keys(options.keys));
  return transport;
}
