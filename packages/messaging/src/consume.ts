import { type Orm, pollWhenDue, transaction } from "@amana/database";
import { DomainError } from "@amana/rpc";
import {
  allTenants,
  createBatcher,
  faultPoint,
  forTenant,
  inOperation,
  type Logger,
  onScrape,
  poll,
  scheduledPause,
} from "@amana/runtime";
import { createAuthentication } from "./authenticate.ts";
import { eventRetrySeconds } from "./create-transport.ts";
import {
  addDeadLetter,
  countRetriedDeadLetters,
  deleteOldDeadLetters,
  endDeadLetter,
  endRepublishedDeadLetters,
  findDueDeadLetters,
  lockDueDeadLetter,
  makeDeadLettersDue,
  messageOf,
  nextRetrySql,
  recordFailedRetry,
} from "./dead-letter.ts";
import { type ApplyResult, applyNewMessages, callAfterCommit, type TopicHandler } from "./effect.ts";
import { isDatabaseOutage, UnknownEventTypeError } from "./failure.ts";
import type { Message } from "./message.ts";
import { inConsumerSpans, inTraceOf } from "./message-spans.ts";
import { consumedEvents, consumedOutcomes, consumerStopped, showDeadLetters } from "./metrics.ts";
import type { Transport } from "./transport.ts";

const batchMessagesMax = 200;
/**
 * Number of different messages that must fail in a row before the consumer pauses. The consumer
 * pauses again after each further group of this number of failures.
 */
const failuresPerPause = 3;
const pauseMsMax = 10_000;
/**
 * When this number of dead-lettered messages of a topic are RETRYING or WAITING, the consumer
 * pauses and messages stay in the transport.
 */
const retriedDeadLettersMax = 10_000;
const retryBatchMax = 20;
const cleaningMs = 60 * 60 * 1000;

/** Thrown for messages that are delivered during a pause. The transport delivers them again. */
class ConsumerPausedError extends DomainError {
  constructor(topic: string, reason: string) {
    super(
      "unavailable",
      "service_unavailable",
      `The consumer of ${topic} is paused: ${reason} The message is delivered again later.`,
    );
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
 * Consumes a topic. Inbox rows and effects commit together. A message therefore takes effect once
 * even if it is delivered repeatedly. The order of effects is not guaranteed. A message whose
 * effect fails is dead-lettered and retried on the schedule `retrySeconds`, and the
 * consumer continues with other messages. When three different messages in a row have failed, the
 * consumer pauses. Its pauses grow until a message succeeds. While the database is unavailable, the
 * transport keeps the messages.
 */
export async function consume(topicHandler: TopicHandler, context: Context): Promise<AsyncDisposable> {
  const { topic, consumer } = topicHandler;
  const { orm, transport } = context;
  if (!transport.keys.hasKeyFor(topic)) throw new Error(`EVENT_MAC_KEYS has no key for ${topic}, which ${consumer} consumes`);
  const logger = context.logger.child({ topic, consumer });
  const topicConsumer = new TopicConsumer(topicHandler, { ...context, logger });
  for (const outcome of consumedOutcomes) consumedEvents.inc({ topic, outcome }, 0);
  // Runs for all tenants, because a batch contains messages of several businesses.
  await transport.subscribe(topic, consumer, (messages) =>
    forTenant(allTenants, () => inOperation(`consume ${topic}`, () => topicConsumer.handle(messages))),
  );
  await using stack = new AsyncDisposableStack();
  const due = { name: "retry-messages", nextDue: nextRetrySql(topicHandler) };
  const retrying = stack.use(pollWhenDue(orm, logger, due, () => topicConsumer.retryDue()));
  topicConsumer.onResumed = () => retrying.wake();
  stack.use(showDeadLetters(orm, topicHandler));
  stack.use(onScrape(() => consumerStopped.set({ topic }, topicConsumer.isPaused ? 1 : 0)));
  stack.use(poll("clean-dead-letters", logger, () => deleteOldDeadLetters(orm.em.fork(), consumer), cleaningMs));
  const running = stack.move();
  return { [Symbol.asyncDispose]: () => running.disposeAsync() };
}

class TopicConsumer {
  readonly #topicHandler: TopicHandler;
  readonly #orm: Orm;
  readonly #logger: Logger;
  readonly #pausesMs: readonly number[];
  readonly #authenticate: (messages: readonly Message[]) => Promise<Message[]>;
  /** Puts messages of several partitions into one transaction. */
  readonly #batch = createBatcher<Message>(batchMessagesMax, (batch) => this.#applyBatch(batch));
  /** Number of different messages that failed since the last success. */
  #failures = 0;
  #pausedUntilMs = 0;
  /**
   * If true, the next call of `retryDue` makes all dead-lettered messages due. Initially true,
   * because a new version may support the event types of WAITING messages.
   */
  #retriesAll = true;
  /** Called after the first success that follows a pause. */
  onResumed = () => {};

  constructor(topicHandler: TopicHandler, { orm, transport, logger, retrySeconds }: Context) {
    this.#topicHandler = topicHandler;
    this.#orm = orm;
    this.#logger = logger;
    this.#pausesMs = (retrySeconds ?? eventRetrySeconds.split(",").map(Number)).map((seconds) => seconds * 1000);
    this.#authenticate = createAuthentication(orm, topicHandler.topic, transport.keys, logger);
  }

  /** True during a pause, and after the pause until a message succeeds. */
  get isPaused(): boolean {
    return this.#failures >= failuresPerPause;
  }

  async handle(messages: readonly Message[]): Promise<void> {
    const authentic = await this.#authenticate(messages);
    for (let start = 0; start < authentic.length; start += batchMessagesMax) {
      await this.#batch(authentic.slice(start, start + batchMessagesMax));
    }
  }

  /** Retries a batch of due dead-lettered messages. Returns the number of delivered messages. */
  async retryDue(): Promise<number> {
    const em = this.#orm.em.fork();
    if (this.#retriesAll) await makeDeadLettersDue(em, this.#topicHandler);
    this.#retriesAll = false;
    await endRepublishedDeadLetters(em, this.#topicHandler);
    let delivered = 0;
    for (const id of await findDueDeadLetters(em, this.#topicHandler, retryBatchMax)) if (await this.#retry(id)) delivered++;
    // Does not count failed retries. After a result above zero, the caller calls this method again
    // immediately, but a message whose retry failed must wait until its pause ends.
    return delivered;
  }

  async #applyBatch(batch: readonly Message[]): Promise<void> {
    this.#requireRunning();
    try {
      await this.#apply(batch);
      return;
    } catch (error) {
      if (isDatabaseOutage(error)) throw error;
    }
    // Applies the messages one at a time, so that a failing message does not delay other
    // messages.
    for (const message of batch) await inTraceOf(message, () => this.#applyOne(message));
  }

  async #applyOne(message: Message): Promise<void> {
    this.#requireRunning();
    try {
      await this.#apply([message]);
    } catch (error) {
      if (isDatabaseOutage(error)) throw error;
      await this.#deadLetter(message, error);
    }
  }

  async #apply(messages: readonly Message[]): Promise<void> {
    const { topic, effect } = this.#topicHandler;
    const applied = await inConsumerSpans(this.#topicHandler, messages, async () =>
      typeof effect === "function"
        ? await transaction(this.#orm, (em) => applyNewMessages(em, this.#topicHandler, messages))
        : await applyNewMessages(this.#orm.em.fork(), this.#topicHandler, messages),
    );
    faultPoint("consumer.committed");
    consumedEvents.inc({ topic, outcome: "passed_over" }, messages.length - applied.count);
    this.#succeeded(applied);
  }

  async #deadLetter(message: Message, error: unknown): Promise<void> {
    const { topic } = this.#topicHandler;
    const isNew = await transaction(this.#orm, async (em) => {
      const retried = await countRetriedDeadLetters(em, this.#topicHandler);
      if (retried >= retriedDeadLettersMax)
        throw new ConsumerPausedError(topic, `${retried} dead-lettered messages of the topic wait for a retry.`);
      return await addDeadLetter(em, this.#topicHandler, message, error, this.#pausesMs);
    });
    if (!isNew) return;
    consumedEvents.inc({ topic, outcome: "failed" });
    const fields = { err: error, event_id: message.headers["ce_id"], event_type: message.headers["ce_type"] };
    if (error instanceof UnknownEventTypeError) {
      this.#logger.error({ ...fields, alert: true }, "event type unknown, message waits for a version that supports it");
      return;
    }
    this.#logger.warn(fields, "message failed, retry scheduled");
    this.#failures++;
    if (this.#failures % failuresPerPause !== 0) return;
    const pauseMs = Math.min(scheduledPause(this.#pausesMs, this.#failures / failuresPerPause - 1), pauseMsMax);
    this.#pausedUntilMs = performance.now() + pauseMs;
    const isFirst = this.#failures === failuresPerPause;
    if (isFirst) this.#logger.error({ err: error, alert: true }, "consumer paused, different messages failed in a row");
  }

  /**
   * Retries a dead-lettered message. Returns true if the message is now DELIVERED. The
   * effect, the inbox row and the status commit together.
   */
  async #retry(id: string): Promise<boolean> {
    const attempt: { message?: Message } = {};
    try {
      const applied = await transaction(this.#orm, async (em) => {
        const deadLetter = await lockDueDeadLetter(em, id);
        if (!deadLetter) return undefined;
        const message = messageOf(deadLetter);
        attempt.message = message;
        const result = await inConsumerSpans(this.#topicHandler, [message], () =>
          applyNewMessages(em, this.#topicHandler, [message]),
        );
        await endDeadLetter(em, id, "DELIVERED");
        return result;
      });
      if (applied) this.#succeeded(applied);
      return applied !== undefined;
    } catch (error) {
      if (isDatabaseOutage(error)) throw error;
      await inTraceOf(attempt.message, () => this.#recordFailure(id, error));
      return false;
    }
  }

  async #recordFailure(id: string, error: unknown): Promise<void> {
    const schedule = { pausesMs: this.#pausesMs, retriesMax: this.#pausesMs.length };
    const failedRetry = await transaction(this.#orm, (em) => recordFailedRetry(em, id, error, schedule));
    if (!failedRetry) return;
    const fields = { err: error, dead_letter: id, attempts: failedRetry.attempts };
    if (failedRetry.status === "PARKED")
      this.#logger.error({ ...fields, alert: true }, "message set to PARKED after its last retry failed");
    else this.#logger.warn(fields, "message failed again, retry scheduled");
  }

  #succeeded({ count, result }: ApplyResult<unknown>): void {
    if (count === 0) return;
    consumedEvents.inc({ topic: this.#topicHandler.topic, outcome: "applied" }, count);
    callAfterCommit(this.#topicHandler, result, this.#logger);
    if (this.isPaused) {
      this.#logger.info("consumer resumed");
      // Retries all dead-lettered messages now, because the cause of their failures may be fixed.
      this.#retriesAll = true;
      this.onResumed();
    }
    this.#failures = 0;
    this.#pausedUntilMs = 0;
  }

  #requireRunning(): void {
    if (performance.now() >= this.#pausedUntilMs) return;
    throw new ConsumerPausedError(this.#topicHandler.topic, "three different messages in a row failed.");
  }
}
