import type { DrawSchema, DrawTokensResponse } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { sharedDraws } from "../metrics.ts";
import type { TokenBuckets } from "./token-buckets.ts";

type Draw = MessageInitShape<typeof DrawSchema>;

interface Drawn {
  readonly key: string;
  readonly buckets: TokenBuckets;
  tokens: number;
}

interface SharedBucketsOptions {
  /** Answers in the order of the draws. */
  readonly drawTokens: (draws: Draw[]) => Promise<DrawTokensResponse>;
}

/** What was drawn is told after this time. */
const tellAfterMs = 250;
/** Earlier when it is this part of what a bucket holds, so that a burst is one burst. */
const urgentShare = 0.05;
/** And never more often. */
const betweenMs = 25;
/** After a failure. */
const retryAfterMs = 1_000;
/** Told at once; the rest follows. */
const drawsMax = 500;
/** What is drawn from more buckets than these, in one go, this gateway alone counts. */
const pendingMax = 10_000;

/**
 * Counts together what several gateways let through, without asking for any one request: a gateway
 * goes by its own buckets, tells identity what was drawn from them, and takes over what is left of
 * them for all. What was let through too much is a debt that the bucket pays back first. While
 * identity cannot be asked, each gateway counts alone.
 */
export class SharedBuckets {
  readonly #pending = new Map<string, Drawn>();
  readonly #options: SharedBucketsOptions;
  #timer: NodeJS.Timeout | undefined;
  /** By the monotonic clock: when the timer fires, and before when nothing is told. */
  #dueMs = 0;
  #notBeforeMs = 0;
  #isTelling = false;

  constructor(options: SharedBucketsOptions) {
    this.#options = options;
  }

  /** Notes what was drawn, and never fails. Of none, what is left is asked for all the same. */
  note(limit: string, key: string, buckets: TokenBuckets, tokens: number): void {
    const name = `${limit} ${key}`;
    let drawn = this.#pending.get(name);
    if (!drawn) {
      if (this.#pending.size >= pendingMax) return;
      drawn = { key, buckets, tokens: 0 };
      this.#pending.set(name, drawn);
    }
    drawn.tokens += tokens;
    if (!this.#isTelling) this.#plan(drawn);
  }

  #plan({ tokens, buckets }: Drawn): void {
    const now = performance.now();
    const isUrgent = tokens >= buckets.rate.burst * urgentShare;
    const dueMs = Math.max(isUrgent ? now : now + tellAfterMs, this.#notBeforeMs);
    if (this.#timer) {
      if (this.#dueMs <= dueMs) return;
      clearTimeout(this.#timer);
    }
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => void this.#tell(), dueMs - now).unref();
  }

  async #tell(): Promise<void> {
    this.#timer = undefined;
    const told = [...this.#pending].slice(0, drawsMax);
    for (const [name] of told) this.#pending.delete(name);
    this.#isTelling = true;
    this.#notBeforeMs = performance.now() + betweenMs;
    try {
      const { left } = await this.#options.drawTokens(
        told.map(([bucket, { buckets, tokens }]) => ({ bucket, tokens, ...buckets.rate })),
      );
      if (left.length !== told.length) throw new Error("not every draw was answered");
      for (const [i, [name, { key, buckets }]] of told.entries()) {
        // What was drawn meanwhile is not in the answer.
        buckets.settle(key, (left[i] as number) - (this.#pending.get(name)?.tokens ?? 0));
      }
      sharedDraws.inc({ outcome: "shared" });
    } catch {
      // It may have been counted or not: not telling it again errs on the side of the caller.
      sharedDraws.inc({ outcome: "lost" });
      this.#notBeforeMs = performance.now() + retryAfterMs;
    } finally {
      this.#isTelling = false;
      for (const drawn of this.#pending.values()) this.#plan(drawn);
    }
  }
}
