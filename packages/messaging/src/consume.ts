import { type Orm, transaction } from "@amana/database";
import { DomainError } from "@amana/rpc";
import { allTenants, createBatcher, faultPoint, forTenant, type Logger, nextPause, onScrape, poll } from "@amana/runtime";
import { createAuthentication } from "./authenticate.ts";
import { eventRetrySeconds } from "./create-transport.ts";
import {
  addDeadLetter,
  cleanDeadLetters,
  countOpen,
  dueLetters,
  endLetter,
  endRepublished,
  lockDue,
  messageOf,
  recordFailure,
  retryNow,
} from "./dead-letter.ts";
import { type Applied, applyFresh, type TopicHandler } from "./effect.ts";
import { isDatabaseAway, UnknownEventTypeError } from "./failure.ts";
import type { Message } from "./message.ts";
import { handling, inTraceOf } from "./message-spans.ts";
import { consumedEvents, consumedOutcomes, consumersStopped, showDeadLetters } from "./metrics.ts";
import type { Transport } from "./transport.ts";

const batchMessagesMax = 200;
/** The consumer pauses after each run of this many different messages that fail in a row. */
const failuresPerPause = 3;
const pauseMsMax = 10_000;
/** With this many letters of a topic that are retried, further messages wait in the transport. */
const openMax = 10_000;
const retryPollMs = 1_500;
const retryBatchMax = 20;
const cleaningMs = 60 * 60 * 1000;

/** The consumer takes no new messages for now; the transport delivers them again. */
class ConsumerPausedError extends DomainError {
  constructor(topic: string, why: string) {
    super("unavailable", "service_unavailable", `The consumer of ${topic} is paused: ${why}`);
    this.name = "ConsumerPausedError";
  }
}

interface Context {
  readonly orm: Orm;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly retrySeconds?: readonly number[];
}

/**
 * Consumes a topic. Inbox rows and effect commit together, so a message takes effect once however
 * often it is delivered, in no promised order. A message whose effect fails becomes a dead letter
 * that is retried on the schedule `retrySeconds`; other messages continue. After three different
 * messages in a row failed, the consumer pauses, with growing pauses until a message succeeds.
 * While the database is unavailable the transport keeps the messages.
 */
export async function consume(consumption: TopicHandler, context: Context): Promise<AsyncDisposable> {
  const { topic, consumer } = consumption;
  const { orm, transport } = context;
  if (!transport.keys.hasKeyFor(topic)) throw new Error(`EVENT_MAC_KEYS has no key for ${topic}, which ${consumer} consumes`);
  const logger = context.logger.child({ topic, consumer });
  const topicConsumer = new TopicConsumer(consumption, { ...context, logger });
  for (const outcome of consumedOutcomes) consumedEvents.inc({ topic, outcome }, 0);
  // Messages are of all businesses.
  await transport.subscribe(topic, consumer, (messages) => forTenant(allTenants, () => topicConsumer.handle(messages)));
  await using stack = new AsyncDisposableStack();
  stack.use(poll("retry-messages", logger, () => topicConsumer.retryDue(), retryPollMs));
  stack.use(showDeadLetters(orm, consumption));
  stack.use(onScrape(() => consumersStopped.set({ topic }, topicConsumer.isPaused ? 1 : 0)));
  stack.use(poll("clean-dead-letters", logger, () => cleanDeadLetters(orm.em.fork(), consumer), cleaningMs));
  const running = stack.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
}

class TopicConsumer {
  readonly #consumption: TopicHandler;
  readonly #orm: Orm;
  readonly #logger: Logger;
  readonly #pausesMs: readonly number[];
  readonly #authenticate: (messages: readonly Message[]) => Promise<Message[]>;
  /** Messages of several partitions share a transaction. */
  readonly #applyGroup = createBatcher<Message>(batchMessagesMax, (batch) => this.#applyBatch(batch));
  /** Different messages that failed since the last success. */
  #failures = 0;
  #pausedUntilMs = 0;
  /** At the start a new version may know the types of WAITING letters. */
  #retriesAll = true;

  constructor(consumption: TopicHandler, { orm, transport, logger, retrySeconds }: Context) {
    this.#consumption = consumption;
    this.#orm = orm;
    this.#logger = logger;
    this.#pausesMs = (retrySeconds ?? eventRetrySeconds.split(",").map(Number)).map((seconds) => seconds * 1000);
    this.#authenticate = createAuthentication(orm, consumption.topic, transport.keys, logger);
  }

  /** Also true between two pauses, until a message succeeds. */
  get isPaused(): boolean {
    return this.#failures >= failuresPerPause;
  }

  async handle(messages: readonly Message[]): Promise<void> {
    const authentic = await this.#authenticate(messages);
    for (let start = 0; start < authentic.length; start += batchMessagesMax) {
      await this.#applyGroup(authentic.slice(start, start + batchMessagesMax));
    }
  }

  /** Retries a batch of due letters. Returns how many are delivered. */
  async retryDue(): Promise<number> {
    const em = this.#orm.em.fork();
    if (this.#retriesAll) await retryNow(em, this.#consumption);
    this.#retriesAll = false;
    await endRepublished(em, this.#consumption);
    let delivered = 0;
    for (const id of await dueLetters(em, this.#consumption, retryBatchMax)) if (await this.#retry(id)) delivered++;
    // Failed letters have their pause, and another replica may have locked the others.
    return delivered;
  }

  async #applyBatch(batch: readonly Message[]): Promise<void> {
    this.#requireRunning();
    try {
      await this.#apply(batch);
      return;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
    }
    // One at a time, so that a failing message does not hold up the others.
    for (const message of batch) await inTraceOf(message, () => this.#applyOne(message));
  }

  async #applyOne(message: Message): Promise<void> {
    this.#requireRunning();
    try {
      await this.#apply([message]);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      await this.#deadLetter(message, error);
    }
  }

  async #apply(messages: readonly Message[]): Promise<void> {
    const { topic, effect } = this.#consumption;
    const applied = await handling(this.#consumption, messages, async () =>
      typeof effect === "function"
        ? await transaction(this.#orm, (em) => applyFresh(em, this.#consumption, messages))
        : await applyFresh(this.#orm.em.fork(), this.#consumption, messages),
    );
    faultPoint("consumer.committed");
    consumedEvents.inc({ topic, outcome: "passed_over" }, messages.length - applied.count);
    this.#succeeded(applied);
  }

  async #deadLetter(message: Message, error: unknown): Promise<void> {
    const { topic } = this.#consumption;
    const isNew = await transaction(this.#orm, async (em) => {
      const open = await countOpen(em, this.#consumption);
      if (open >= openMax) throw new ConsumerPausedError(topic, `${open} of its messages are dead letters.`);
      return await addDeadLetter(em, this.#consumption, message, error, this.#pausesMs);
    });
    if (!isNew) return;
    consumedEvents.inc({ topic, outcome: "failed" });
    const fields = { err: error, event_id: message.headers["ce_id"], event_type: message.headers["ce_type"] };
    if (error instanceof UnknownEventTypeError) {
      this.#logger.error({ ...fields, alert: true }, "event type unknown, the message waits for a version that knows it");
      return;
    }
    this.#logger.warn(fields, "message failed, retry scheduled");
    this.#failures++;
    if (this.#failures % failuresPerPause !== 0) return;
    const pauseMs = Math.min(nextPause(this.#pausesMs, this.#failures / failuresPerPause - 1), pauseMsMax);
    this.#pausedUntilMs = performance.now() + pauseMs;
    const isFirst = this.#failures === failuresPerPause;
    if (isFirst) this.#logger.error({ err: error, alert: true }, "consumer paused, different messages failed in a row");
  }

  /** Returns whether the letter is delivered. Effect, inbox row and letter commit together. */
  async #retry(id: string): Promise<boolean> {
    const attempt: { message?: Message } = {};
    try {
      const applied = await transaction(this.#orm, async (em) => {
        const letter = await lockDue(em, id);
        if (!letter) return undefined;
        const message = messageOf(letter);
        attempt.message = message;
        const done = await handling(this.#consumption, [message], () => applyFresh(em, this.#consumption, [message]));
        await endLetter(em, id, "DELIVERED");
        return done;
      });
      if (applied) this.#succeeded(applied);
      return applied !== undefined;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      await inTraceOf(attempt.message, () => this.#recordFailure(id, error));
      return false;
    }
  }

  async #recordFailure(id: string, error: unknown): Promise<void> {
    const schedule = { pausesMs: this.#pausesMs, retriesMax: this.#pausesMs.length };
    const failed = await transaction(this.#orm, (em) => recordFailure(em, id, error, schedule));
    if (!failed) return;
    const fields = { err: error, dead_letter: id, attempts: failed.attempts };
    if (failed.status === "PARKED") this.#logger.error({ ...fields, alert: true }, "message parked after its last retry failed");
    else this.#logger.warn(fields, "message failed again, retry scheduled");
  }

  #succeeded({ count, result }: Applied<unknown>): void {
    if (count === 0) return;
    consumedEvents.inc({ topic: this.#consumption.topic, outcome: "applied" }, count);
    this.#consumption.committed?.(result);
    if (this.isPaused) {
      this.#logger.info("consumer resumed");
      // The fault that failed them may be fixed.
      this.#retriesAll = true;
    }
    this.#failures = 0;
    this.#pausedUntilMs = 0;
  }

  #requireRunning(): void {
    if (performance.now() >= this.#pausedUntilMs) return;
    throw new ConsumerPausedError(this.#consumption.topic, "different messages failed in a row.");
  }
}
