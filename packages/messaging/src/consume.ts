import { type Orm, transaction } from "@amana/database";
import { DomainError } from "@amana/rpc";
import { everyTenant, faultPoint, forTenant, inGroups, type Logger, onScrape, poll } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { createCircuit } from "./circuit.ts";
import { eventRetrySeconds } from "./create-transport.ts";
import { cleanDeadLetters, isBlocked, readStanding, resolveParked, type Subscription, setAside } from "./dead-letter.ts";
import { applyFresh, atOnce, type Effect, type StatementEffect } from "./effect.ts";
import { eventIdOf } from "./event-id.ts";
import { isDatabaseAway, reasonOf, UnknownEventTypeError } from "./failure.ts";
import { createForgedMessages } from "./forged-messages.ts";
import type { Message } from "./message.ts";
import { handling, inTraceOf } from "./message-spans.ts";
import { consumedEvents, consumedOutcomes, consumersStopped, showDeadLetters } from "./metrics.ts";
import { startRetrying } from "./retry.ts";
import type { Transport } from "./transport.ts";

export interface Consumption<Result = unknown> extends Subscription {
  /** Names this consumer in its inbox and towards Kafka: "webhooks". */
  readonly consumer: string;
  /** Throws UnknownEventTypeError for a type that only a later version knows. */
  readonly effect: Effect<Result>;
  /** The effect as one statement: the fast way, while nothing of the topic is set aside. */
  readonly statement?: StatementEffect<never, Result>;
  /** Is told what an effect came to once it is committed, for example to wake a worker. */
  committed?(result: Result): void;
  /** What the payload is, for operators who look at one that was set aside. */
  readonly schema?: DescMessage;
}

const behind = {
  status: "WAITING",
  reason: "It waits behind an earlier event of its key.",
  attempts: 0,
  pauseMs: 0,
} as const;

/** New messages are not taken for now and stay where they are. In direct mode this is no fault. */
class ConsumerStoppedError extends DomainError {
  constructor(topic: string, why: string) {
    super("unavailable", "service_unavailable", `The consumer of ${topic} has stopped: ${why}`);
    this.name = "ConsumerStoppedError";
  }
}

const batchMessagesMax = 200;
/** So much of a topic may be set aside; then the rest waits in the transport. */
const openMax = 10_000;
const cleaningMs = 60 * 60 * 1000;

/**
 * Consumes a topic: inbox rows and effect commit together, so a message takes effect once however
 * often it arrives. A message that fails is set aside in dead_letter and tried again with growing
 * pauses, those of its key behind it; others go on. When different messages fail with none that
 * succeeds, the consumer stops and tries few of them, one at a time, until one does. Only a message
 * that has failed through the whole schedule, while others succeeded and none failed alike, is
 * parked. While the database is away nothing is set aside and the transport delivers again.
 */
export async function consume(
  consumption: Consumption,
  context: { orm: Orm; transport: Transport; logger: Logger; retrySeconds?: readonly number[] },
): Promise<AsyncDisposable> {
  const { topic, consumer } = consumption;
  const { orm, transport, retrySeconds = eventRetrySeconds.split(",").map(Number) } = context;
  if (!transport.keys.hasKeyFor(topic)) throw new Error(`EVENT_MAC_KEYS has no key for ${topic}, which ${consumer} consumes`);
  const logger = context.logger.child({ topic, consumer });
  const pausesMs = retrySeconds.map((seconds) => seconds * 1000);
  const circuit = createCircuit(pausesMs);
  const forged = createForgedMessages(orm, consumption, logger);

  const applyAtOnce = consumption.statement && atOnce(orm.em, consumption, consumption.statement);

  const succeeded = (result: unknown) => {
    consumption.committed?.(result);
    if (circuit.succeeded()) logger.info("the consumer goes on");
  };

  /** Answers how many had an effect. */
  const apply = async (messages: readonly Message[]): Promise<number> => {
    const { count, result } = await handling(
      consumption,
      messages,
      async () => (await applyAtOnce?.(messages)) ?? (await transaction(orm, (em) => applyWithin(em, consumption, messages))),
    );
    faultPoint("consumer.committed");
    consumedEvents.inc({ topic, outcome: "applied" }, count);
    consumedEvents.inc({ topic, outcome: "passed_over" }, messages.length - count);
    if (count > 0) succeeded(result);
    return count;
  };

  const applyOne = async (message: Message) => {
    const wasStopped = circuit.isStopped();
    if (!circuit.mayTry()) throw new ConsumerStoppedError(topic, "different messages failed one after the other.");
    try {
      const count = await apply([message]);
      if (wasStopped && count === 0) circuit.learntNothing();
    } catch (error) {
      if (error instanceof ConsumerStoppedError || isDatabaseAway(error)) throw error;
      await keep(message, error);
    }
  };

  const keep = async (message: Message, error: unknown) => {
    const isUnknownType = error instanceof UnknownEventTypeError;
    const hasId = eventIdOf(message) !== undefined;
    // One without an id can be told from none of its repetitions, so it is not tried by itself.
    const status = !hasId ? "PARKED" : isUnknownType ? "WAITING" : "RETRYING";
    const why = { status, reason: reasonOf(error), attempts: isUnknownType ? 0 : 1, pauseMs: pausesMs[0] ?? 0 } as const;
    const isNew = await transaction(orm, (em) => setAside(em, consumption, message, why));
    if (!isNew) return;
    consumedEvents.inc({ topic, outcome: "failed" });
    const line = { err: error, event_id: message.headers["ce_id"], event_type: message.headers["ce_type"] };
    if (isUnknownType) {
      logger.error({ ...line, alert: true }, "an event waits for the version that knows its type");
      return;
    }
    logger.warn(line, "a message failed and is set aside; it is tried again");
    if (circuit.failed()) {
      logger.error({ err: error, alert: true }, "the consumer stops: different messages failed one after the other");
    }
  };

  // What comes from other partitions meanwhile goes along in one transaction.
  const applyGroup = inGroups<Message>(batchMessagesMax, async (batch) => {
    if (!circuit.isStopped()) {
      try {
        await apply(batch);
        return;
      } catch (error) {
        if (error instanceof ConsumerStoppedError || isDatabaseAway(error)) throw error;
        // One bad message must not hold up its neighbours: find it by going one by one.
      }
    }
    for (const message of batch) await inTraceOf(message, () => applyOne(message));
  });

  const appliedLater = (result: unknown) => {
    consumedEvents.inc({ topic, outcome: "applied" });
    succeeded(result);
  };

  const handle = async (messages: readonly Message[]) => {
    const authentic = await forged.setAside(messages, transport.keys);
    consumedEvents.inc({ topic, outcome: "forged" }, messages.length - authentic.length);
    for (let start = 0; start < authentic.length; start += batchMessagesMax) {
      await applyGroup(authentic.slice(start, start + batchMessagesMax));
    }
  };

  for (const outcome of consumedOutcomes) consumedEvents.inc({ topic, outcome }, 0);
  // Messages are of all businesses.
  await transport.subscribe(topic, consumer, (messages) => forTenant(everyTenant, () => handle(messages)));
  await using stack = new AsyncDisposableStack();
  stack.use(startRetrying(consumption, { orm, logger, pausesMs, circuit, succeeded: appliedLater }));
  stack.use(showDeadLetters(orm, consumption));
  stack.use(onScrape(() => consumersStopped.set({ topic }, circuit.isStopped() ? 1 : 0)));
  stack.use(poll("clean-dead-letters", logger, () => cleanDeadLetters(orm.em.fork(), consumer), cleaningMs));
  const running = stack.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Sets aside what waits behind others of its key; answers how many of the rest took effect. */
async function applyWithin(
  em: SqlEntityManager,
  consumption: Consumption,
  messages: readonly Message[],
): Promise<{ count: number; result: unknown }> {
  const { topic, consumer } = consumption;
  const standing = await readStanding(em, consumption, messages);
  if (standing.open >= openMax) throw new ConsumerStoppedError(topic, `${standing.open} of its messages are set aside.`);
  const { blocked = [], free = [] } = Object.groupBy(messages, (message) => (isBlocked(standing, message) ? "blocked" : "free"));
  const { fresh, result } = await applyFresh(em, consumption, free);
  for (const message of blocked) await setAside(em, consumption, message, behind);
  const parked = fresh.map(eventIdOf).filter((id) => id !== undefined && standing.parkedIds.includes(id)) as string[];
  if (parked.length > 0) await resolveParked(em, consumer, parked);
  return { count: fresh.length, result };
}
