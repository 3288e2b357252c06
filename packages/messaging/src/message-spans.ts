import { beginSpan, inTrace, type Span } from "@amana/runtime";
import type { Message, Subscription } from "./message.ts";

const aboutMessage = (topic: string, operation: "send" | "process", { headers }: Message) => ({
  "messaging.destination.name": topic,
  "messaging.operation.type": operation,
  "messaging.message.id": headers["ce_id"],
  "amana.event_type": headers["ce_type"],
});

interface Publishing {
  /** As they travel: those of sampled traces in spans of their own, from their event on. */
  readonly messages: readonly Message[];
  end(outcome: "done" | "failed"): void;
}

export function beginPublishing(topic: string, rows: readonly Message[]): Publishing {
  const spans: Span[] = [];
  const messages = rows.map((row) => {
    const { key, payload, headers } = row;
    const happenedMs = Date.parse(headers["ce_time"] ?? "");
    const attributes = aboutMessage(topic, "send", row);
    const span = beginSpan("producer", `send ${topic}`, headers["traceparent"], { attributes, startMs: happenedMs || undefined });
    if (!span) return { key, payload, headers };
    spans.push(span);
    return { key, payload, headers: { ...headers, traceparent: span.traceparent } };
  });
  return { messages, end: (outcome) => spans.forEach((span) => void span.end(outcome === "failed" ? outcome : undefined)) };
}

/** Spans in which messages are being handled, beside the messages: their headers stay as signed. */
const spansOf = new WeakMap<Message, Span>();

/** The trace that an effect of the message belongs to. */
export const traceparentOf = (message: Message): string | undefined =>
  spansOf.get(message)?.traceparent ?? message.headers["traceparent"];

/** Does the work on one message in its trace. */
export const inTraceOf = <T>(message: Message | undefined, work: () => T): T => {
  const traceparent = message && traceparentOf(message);
  return inTrace(traceparent ? { traceparent } : undefined, work);
};

/** Handles messages, each of a sampled trace in a span; one alone in its trace. */
export async function handling<T>(
  { topic, consumer }: Subscription,
  messages: readonly Message[],
  work: () => Promise<T>,
): Promise<T> {
  const spans: Span[] = [];
  for (const message of messages) {
    const span = beginSpan("consumer", `process ${topic}`, message.headers["traceparent"]);
    if (!span) continue;
    span.set({ ...aboutMessage(topic, "process", message), "messaging.consumer.group.name": consumer });
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
