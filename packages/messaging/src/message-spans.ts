import { beginSpan, inTrace, type Span } from "@amana/runtime";
import type { Message, Subscription } from "./message.ts";

const attributesOf = (topic: string, operation: "send" | "process", { headers }: Message) => ({
  "messaging.destination.name": topic,
  "messaging.operation.type": operation,
  "messaging.message.id": headers["ce_id"],
  "amana.event_type": headers["ce_type"],
});

interface SendSpans {
  /**
   * The messages to publish. The `traceparent` of a message with a sampled trace is the context of
   * its send span.
   */
  readonly messages: readonly Message[];
  end(outcome: "done" | "failed"): void;
}

/** Begins a span for each message of a sampled trace. A span starts at the time of its event. */
export function beginSendSpans(topic: string, rows: readonly Message[]): SendSpans {
  const spans: Span[] = [];
  const messages = rows.map((row) => {
    const { key, payload, headers } = row;
    const occurredMs = Date.parse(headers["ce_time"] ?? "");
    const attributes = attributesOf(topic, "send", row);
    const span = beginSpan("producer", `send ${topic}`, headers["traceparent"], { attributes, startMs: occurredMs || undefined });
    if (!span) return { key, payload, headers };
    spans.push(span);
    return { key, payload, headers: { ...headers, traceparent: span.traceparent } };
  });
  return { messages, end: (outcome) => spans.forEach((span) => void span.end(outcome === "failed" ? outcome : undefined)) };
}

/**
 * Spans of the messages that are being processed. They are not stored in the headers, because the
 * MAC includes the headers.
 */
const spansOf = new WeakMap<Message, Span>();

/** Returns the trace context for effects of the message. */
export const traceparentOf = (message: Message): string | undefined =>
  spansOf.get(message)?.traceparent ?? message.headers["traceparent"];

/** Runs `work` in the trace of the message. */
export const inTraceOf = <T>(message: Message | undefined, work: () => T): T => {
  const traceparent = message && traceparentOf(message);
  return inTrace(traceparent ? { traceparent } : undefined, work);
};

/**
 * Runs `work` on messages, with a span for each message of a sampled trace. If there is only one
 * message, `work` runs in the trace of that message.
 */
export async function inConsumerSpans<T>(
  { topic, consumer }: Subscription,
  messages: readonly Message[],
  work: () => Promise<T>,
): Promise<T> {
  const spans: Span[] = [];
  for (const message of messages) {
    const span = beginSpan("consumer", `process ${topic}`, message.headers["traceparent"]);
    if (!span) continue;
    span.set({ ...attributesOf(topic, "process", message), "messaging.consumer.group.name": consumer });
    spansOf.set(message, span);
    spans.push(span);
  }
  try {
    const result = await inTraceOf(messages.length === 1 ? messages[0] : undefined, work);
    for (const span of spans) span.end();
    return result;
  } catch (error) {
    for (const span of spans) span.end("error");
    throw error;
  }
}
