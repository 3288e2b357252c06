import { transaction } from "@amana/database";
import { createLogger, currentTrace, startTracing } from "@amana/runtime";
import { type Collector, startCollector } from "@amana/runtime/test/collector";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { database, deadLetters, topic } from "../test/database.ts";
import { aMessage, MemoryTransport } from "../test/memory-transport.ts";
import { waitForRelay } from "../test/wait-for-relay.ts";
import { addToOutbox, consume, type Message, startRelay, traceparentOf } from "./index.ts";

const [traceId, parentId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
const sampled = `00-${traceId}-${parentId}-01`;
const unsampled = `00-${"a".repeat(32)}-${parentId}-00`;

const lines: Record<string, unknown>[] = [];
const logger = createLogger("test", "info", { write: (line) => void lines.push(JSON.parse(line)) });
let db: TestDatabase;
let collector: Collector;
let transport: MemoryTransport;
let stack: AsyncDisposableStack;
/** Exports the pending spans. */
let stopTracing: () => Promise<void>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("messaging", database));
  collector = stack.use(await startCollector());
  transport = new MemoryTransport();
  lines.length = 0;
  const settings = { url: `${collector.url}/v1/traces`, headers: {}, certificateAuthority: undefined };
  const tracing = stack.use(await startTracing(settings, "tests", logger));
  stopTracing = async () => await tracing[Symbol.asyncDispose]();
});
afterEach(() => stack.disposeAsync());

const withTrace = (message: Message, traceparent: string): Message => ({
  ...message,
  headers: { ...message.headers, traceparent },
});

test("the relay creates a send span for each attempt to publish an event of a sampled trace", async () => {
  stack.use(startRelay({ databaseUrl: db.url, topics: [topic], transport, logger }));
  transport.beforePublish = () => {
    if (transport.attempts === 1) throw new Error("broker unavailable");
  };
  const occurredAt = new Date(Date.now() - 60_000);
  const event = { topic, key: "k", type: "tests.v1.Test", source: "tests", payload: Buffer.from([1]), occurredAt };
  await transaction(db.orm, async (em) => {
    addToOutbox(em, { ...event, traceparent: sampled });
    addToOutbox(em, { ...event, traceparent: unsampled });
  });
  await waitForRelay(db.orm);
  await stopTracing();
  const [failedSpan, successfulSpan] = collector.spans;
  expect(collector.spans).toHaveLength(2);
  const sendSpan = { kind: "producer", name: `send ${topic}`, traceId, parentSpanId: parentId, startMs: occurredAt.getTime() };
  expect(failedSpan).toMatchObject({ ...sendSpan, isFailed: true });
  expect(successfulSpan).toMatchObject({ ...sendSpan, isFailed: false });
  const traceparents = transport.published.map(({ message }) => message.headers["traceparent"]);
  expect(traceparents).toEqual([`00-${traceId}-${successfulSpan?.spanId}-01`, unsampled]);
});

test("a consumer applies each message in the trace of that message, also when the consumer retries a dead-lettered message", async () => {
  const traceparents: (string | undefined)[] = [];
  let isBroken = true;
  const effect = async (_em: unknown, messages: readonly Message[]) => {
    if (isBroken && messages.some(({ headers }) => headers["traceparent"] === sampled)) throw new Error("effect failed");
    for (const message of messages) traceparents.push(traceparentOf(message), currentTrace()?.traceparent);
  };
  stack.use(
    await consume({ topic, consumer: "tests", effect }, { orm: db.orm, transport, logger, retrySeconds: Array(100).fill(0.05) }),
  );
  await transport.deliver(
    withTrace(aMessage("1"), sampled),
    withTrace(aMessage("2", { key: "b" }), unsampled),
    aMessage("3", { key: "c" }),
  );
  expect(traceparents).toEqual([unsampled, unsampled, undefined, undefined]);
  const [deadLetter] = await deadLetters(db.orm);
  expect(deadLetter?.headers).toMatchObject({ traceparent: sampled });
  isBroken = false;
  await eventually(() => expect(traceparents).toHaveLength(6));
  await stopTracing();

  expect(lines.find(({ msg }) => String(msg).startsWith("message failed"))).toMatchObject({ trace_id: traceId });
  const lastSpan = collector.spans.at(-1);
  expect(lastSpan).toMatchObject({
    kind: "consumer",
    name: `process ${topic}`,
    traceId,
    parentSpanId: parentId,
    isFailed: false,
  });
  expect(traceparents.slice(4)).toEqual(Array(2).fill(`00-${traceId}-${lastSpan?.spanId}-01`));
  // The consumer first applies the message together with its batch, and then alone.
  const earlier = collector.spans.slice(0, -1).map(({ isFailed }) => isFailed);
  expect(earlier.length).toBeGreaterThanOrEqual(2);
  expect(earlier).not.toContain(false);
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
});
