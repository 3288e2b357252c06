import { backoffMs, faultPoint, type Logger, Pause, secondsSince, sleep, withTimeout } from "@amana/runtime";
import type pg from "pg";
import { beginPublishing } from "./message-spans.ts";
import { published, publishedEvents } from "./metrics.ts";
import { loadPosition, type OutboxRow, partsOf, readNext, savePosition } from "./outbox-position.ts";
import type { Transport } from "./transport.ts";

/** For so long the position may lag: a relay that takes over publishes that again. */
const saveMs = 1_000;
/** The same in rows of all topics: whoever looks for what waits walks from the position on. */
const idsBehindMax = 5_000n;
/** Wake-ups get lost with a process or a connection: this bounds how long a row then waits. */
const netMs = 1_500;

/** A session that holds the relay's lock. */
interface RelaySession {
  readonly client: pg.Client;
  /** It is lost, or the relay is closed. */
  readonly end: AbortSignal;
}

/** Moves one topic's rows to the transport, whatever happens to other topics. */
export class TopicRelay {
  readonly #topic: string;
  readonly #options: { readonly transport: Transport; readonly logger: Logger; readonly timeoutMs: number };
  readonly #pause = new Pause();

  constructor(topic: string, options: { transport: Transport; logger: Logger; timeoutMs: number }) {
    this.#topic = topic;
    this.#options = options;
  }

  wake(): void {
    this.#pause.wake();
  }

  /** Publishes rows as they are committed until the session ends; throws when the session fails. */
  async run({ client, end }: RelaySession): Promise<void> {
    const topic = this.#topic;
    let position = await loadPosition(client, topic);
    let savedId = BigInt(position.id);
    let isSaved = true;
    let savedAtMs = performance.now();
    const stop = () => this.wake();
    end.addEventListener("abort", stop);
    try {
      for (let failures = 0; !end.aborted; ) {
        this.#pause.begin();
        const { rows, next, isCut } = await readNext(client, topic, position);
        try {
          await this.#publish(rows);
          failures = 0;
        } catch (error) {
          failures++;
          if (!end.aborted)
            this.#options.logger.warn({ err: error, topic, failures }, "events could not be published and wait in the outbox");
          await sleep(backoffMs(failures, 100, 2_000), end);
          continue;
        }
        position = next;
        isSaved &&= rows.length === 0 && BigInt(position.id) - savedId < idsBehindMax;
        if (!isSaved && performance.now() - savedAtMs >= saveMs) {
          await savePosition(client, topic, position);
          isSaved = true;
          savedId = BigInt(position.id);
          savedAtMs = performance.now();
        }
        // Whatever was committed since the look has woken this loop, or will within the net's time.
        if (!isCut) await this.#pause.wait(isSaved ? netMs : saveMs);
      }
    } finally {
      end.removeEventListener("abort", stop);
    }
    if (!isSaved) await savePosition(client, topic, position);
  }

  async #publish(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { transport, timeoutMs } = this.#options;
    for (const part of partsOf(rows)) {
      const { messages, end } = beginPublishing(this.#topic, part);
      const startedMs = performance.now();
      let outcome: "done" | "failed" = "failed";
      try {
        await withTimeout(timeoutMs, transport.publish(this.#topic, messages, AbortSignal.timeout(timeoutMs)));
        outcome = "done";
        publishedEvents.inc({ topic: this.#topic }, messages.length);
      } finally {
        published.observe({ topic: this.#topic, outcome }, secondsSince(startedMs));
        end(outcome);
      }
    }
    faultPoint("relay.published");
  }
}
