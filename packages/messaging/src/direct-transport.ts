import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createRpcChannel, createRpcClient, forbidden, noCaller, notFound, serve, type Tls } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import type { MessageKeys } from "./message-keys.ts";
import type { MessageHandler, Transport } from "./transport.ts";

const handOverTimeoutMs = 20_000;

/**
 * Creates a transport that calls the RPC of each consumer and waits until the effects are
 * committed. It delivers at least once and in order, and consumers use the same inbox as with
 * Kafka. While a consumer is unavailable, the messages stay in the outbox. The RPC needs no caller
 * token; the MAC authenticates the messages.
 */
export function createDirectTransport(
  subscribers: Readonly<Record<string, readonly string[]>>,
  context: { keys: MessageKeys; tls?: Tls; logger: Logger },
): Transport {
  const { keys, tls, logger } = context;
  const handlers = new Map<string, MessageHandler[]>();
  const channels = new Map(
    [...new Set(Object.values(subscribers).flat())].map((url) => {
      const channel = createRpcChannel({ urls: [url], audience: "events", tls });
      return [url, { channel, client: createRpcClient(HandOverService, channel) }] as const;
    }),
  );

  return {
    keys,
    async publish(topic, messages) {
      const urls = subscribers[topic] ?? [];
      if (urls.length === 0) {
        throw new Error(`${topic} has no subscriber: add one to DIRECT_SUBSCRIBERS, or set EVENTS=kafka`);
      }
      const signed = messages.map((message) => keys.sign(topic, message));
      const options = { caller: noCaller, timeoutMs: handOverTimeoutMs };
      await Promise.all(urls.map((url) => channels.get(url)?.client.handOverMessages({ topic, messages: signed }, options)));
    },
    async subscribe(topic, _group, handler) {
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler]);
    },
    services: [
      serve(
        HandOverService,
        {
          async handOverMessages({ topic, messages }) {
            const subscribed = handlers.get(topic);
            if (!subscribed) throw notFound("topic_not_consumed", `This service does not consume ${topic}.`);
            // Rejects the whole batch. No event is lost, because an authentic sender keeps rejected
            // messages in its outbox.
            if (messages.some((message) => !keys.verify(topic, message))) {
              logger.error({ alert: true, topic }, "messages rejected, MAC invalid");
              throw forbidden(
                "message_not_authentic",
                `The MAC of a message is invalid. Set the same key for ${topic} in EVENT_MAC_KEYS of both services.`,
              );
            }
            for (const handler of subscribed) await handler(messages);
            return {};
          },
        },
        { requiresCallerToken: false },
      ),
    ],
    async [Symbol.asyncDispose]() {
      await Promise.all([...channels.values()].map(({ channel }) => channel[Symbol.asyncDispose]()));
    },
  };
}
