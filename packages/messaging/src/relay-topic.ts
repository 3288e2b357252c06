import { backoffMs, faultPoint, type Logger, Pause, secondsSince, sleep, withTimeout } from "@amana/runtime";
import type pg from "pg";
import type { Message } from "./message.ts";
import { beginSendSpans } from "./message-spans.ts";
import { publishDuration, publishedEvents } from "./metrics.ts";
import { loadCursor, readNext, saveCursor, splitIntoParts } from "./outbox-cursor.ts";
import type { Transport } from "./transport.ts";

/**
 * Interval of cursor writes. After a failover, the next relay publishes the rows of the last
 * interval again.
 */
const cursorSaveMs = 1_000;
/**
 * The relay stores its cursor when the cursor is this number of ids ahead of the stored cursor,
 * because metrics scan the rows after the stored cursor.
 */
const idsBehindMax = 5_000n;
/** Poll interval. A lost wake-up delays a row by at most this time. */
const pollMs = 3_000;

/** A session that holds the relay's lock. */
interface RelaySession {
  readonly client: pg.Client;
  /** Aborts when the session is lost or the relay is closed. */
  readonly end: AbortSignal;
}

/** Publishes the rows of one topic, independently of other topics. */
export class TopicRelay {
  readonly #topic: string;
  readonly #options: { readonly transport: Transport; readonly logger: Logger; readonly timeoutMs: number };
  readonly #pause = new Pause();
  #isPublishing = false;

  constructor(topic: string, options: { transport: Transport; logger: Logger; timeoutMs: number }) {
    this.#topic = topic;
    this.#options = options;
  }

  wake(): void {
    this.#pause.wake();
  }

  /** True during a publication. During that time, the relay sends no query for the topic. */
  get isPublishing(): boolean {
    return this.#isPublishing;
  }

  /** Publishes committed rows until the session ends. Throws when the session fails. */
  async run({ client, end }: RelaySession): Promise<void> {
    const topic = this.#topic;
    let cursor = await loadCursor(client, topic);
    let savedId = BigInt(cursor.id);
    let isSaved = true;
    let savedAtMs = performance.now();
    const stop = () => this.wake();
    end.addEventListener("abort", stop);
    try {
      for (let failures = 0; !end.aborted; ) {
        this.#pause.begin();
        const { rows, next, isCut } = await readNext(client, topic, cursor);
        try {
          this.#isPublishing = true;
          await this.#publish(rows);
          failures = 0;
        } catch (error) {
          failures++;
          if (!end.aborted)
            this.#options.logger.warn({ err: error, topic, failures }, "outbox events not published, retry scheduled");
          await sleep(backoffMs(failures, 100, 2_000), end);
          continue;
        } finally {
          this.#isPublishing = false;
        }
        cursor = next;
        isSaved &&= rows.length === 0 && BigInt(cursor.id) - savedId < idsBehindMax;
        if (!isSaved && performance.now() - savedAtMs >= cursorSaveMs) {
          await saveCursor(client, topic, cursor);
          isSaved = true;
          savedId = BigInt(cursor.id);
          savedAtMs = performance.now();
        }
        // A commit after `readNext` ends this pause early.
        if (!isCut) await this.#pause.wait(isSaved ? pollMs : cursorSaveMs);
      }
    } finally {
      end.removeEventListener("abort", stop);
    }
    if (!isSaved) await saveCursor(client, topic, cursor);
  }

  async #publish(rows: readonly Message[]): Promise<void> {
    if (rows.length === 0) return;
    const { transport, timeoutMs } = this.#options;
    for (const part of splitIntoParts(rows)) {
      const { messages, end } = beginSendSpans(this.#topic, part);
      const startedMs = performance.now();
      let outcome: "done" | "failed" = "failed";
      try {
        await withTimeout(timeoutMs, transport.publish(this.#topic, messages, AbortSignal.timeout(timeoutMs)));
        outcome = "done";
        publishedEvents.inc({ topic: this.#topic }, messages.length);
      } finally {
        publishDuration.observe({ topic: this.#topic, outcome }, secondsSince(startedMs));
        end(outcome);
      }
    }
    faultPoint("relay.published");
  }
}
