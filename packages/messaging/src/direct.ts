import { DeliveryService } from "@amana/contracts/messaging/v1/delivery_service_pb";
import { createRpcChannel, createRpcClient, DomainError, nobody, serve, type Tls } from "@amana/rpc";
import type { MessageHandler, Transport } from "./message.ts";

const deliverTimeoutMs = 20_000;

/**
 * The relay hands messages to the consumers' RPC and waits until their effects are committed. At least once, in
 * order, with the same inbox as over Kafka; what is missing is a log that outlives a consumer's absence, and the
 * outbox plays that part.
 */
export function createDirectTransport(
  subscribers: Readonly<Record<string, readonly string[]>>,
  { tls }: { tls?: Tls | undefined },
): Transport {
  const handlers = new Map<string, MessageHandler[]>();
  const channels = new Map(
    [...new Set(Object.values(subscribers).flat())].map((url) => {
      const channel = createRpcChannel({ urls: [url], audience: "events", tls, connections: 2 });
      return [url, { channel, client: createRpcClient(DeliveryService, channel) }] as const;
    }),
  );

  return {
    async publish(topic, messages) {
      const urls = subscribers[topic] ?? [];
      if (urls.length === 0) {
        throw new Error(`nobody receives ${topic}: set KAFKA_BROKERS, or name a subscriber in DIRECT_SUBSCRIBERS`);
      }
      await Promise.all(
        urls.map((url) =>
          channels
            .get(url)
            ?.client.deliverMessages(
              { topic, messages: messages.map((message) => ({ ...message, headers: { ...message.headers } })) },
              { caller: nobody, timeoutMs: deliverTimeoutMs },
            ),
        ),
      );
    },
    async subscribe(topic, _group, handler) {
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler]);
    },
    services: [
      serve(
        DeliveryService,
        {
          async deliverMessages({ topic, messages }) {
            const subscribed = handlers.get(topic);
            if (!subscribed) throw new DomainError("not_found", "topic_not_consumed", `This service does not consume ${topic}.`);
            for (const handler of subscribed) await handler(messages);
            return {};
          },
        },
        { takesCaller: false },
      ),
    ],
    async [Symbol.asyncDispose]() {
      await Promise.all([...channels.values()].map(({ channel }) => channel[Symbol.asyncDispose]()));
    },
  };
}
