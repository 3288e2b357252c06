import { setBounded } from "@amana/runtime";

/** Result of drawing tokens for one request. */
export interface Draw {
  readonly allowed: boolean;
  /** Maximum number of tokens in the bucket. */
  readonly limit: number;
  /** Number of whole tokens left. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly resetSeconds: number;
  /** Time until the next token is available; 0 when the draw was allowed. */
  readonly retryAfterSeconds: number;
}

interface Bucket {
  /**
   * Below 0 after a large draw or a charge, or when all gateways together permitted too many
   * requests.
   */
  tokens: number;
  /** Number of tokens that may be drawn without a report to the other gateways. */
  unreported: number;
  atMs: number;
  /**
   * Time of the last synchronization with the other gateways, or of the last request for a
   * synchronization if this request is later.
   */
  syncedAtMs: number;
}

interface TokenBucketsOptions {
  /** Number of tokens that are refilled per second. */
  readonly perSecond: number;
  /** Maximum number of tokens in a bucket. */
  readonly burst: number;
  /** Monotonic clock. */
  readonly nowMs: () => number;
  readonly bucketsMax?: number;
  /**
   * Called with tokens that must be reported to the other gateways, and with 0 tokens when it is
   * time to synchronize. Absent when there are no other gateways.
   */
  readonly onDrawn?: (key: string, buckets: TokenBuckets, tokens: number) => void;
}

/**
 * Fraction of a limit that each gateway may permit without a report. For example, twenty gateways
 * may permit a tenth of the limit without reports.
 */
const unreportedShare = 0.005;
/**
 * Interval of synchronizations while requests are rejected. The synchronizations let Retry-After
 * include the draws of other gateways. The interval is one second, because Retry-After has whole
 * seconds.
 */
const resyncAfterMs = 1_000;

/**
 * A token bucket for each key; a new bucket is full. Beyond `bucketsMax` buckets the least recently
 * used bucket is deleted to bound memory, because it is most likely full.
 */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #options: Required<TokenBucketsOptions>;

  constructor(options: TokenBucketsOptions) {
    this.#options = { bucketsMax: 10_000, onDrawn: () => {}, ...options };
  }

  get size(): number {
    return this.#buckets.size;
  }

  get rate(): { perSecond: number; burst: number } {
    const { perSecond, burst } = this.#options;
    return { perSecond, burst };
  }

  /** Sets the tokens of a bucket to the number that is left for all gateways together. */
  setTokens(key: string, tokens: number): void {
    const bucket = this.#refill(key);
    bucket.tokens = Math.min(this.#options.burst, tokens);
    bucket.syncedAtMs = bucket.atMs;
  }

  /**
   * Draws the tokens if the bucket has at least one token. If the bucket has fewer tokens than are
   * drawn, its number of tokens becomes negative.
   */
  draw(key: string, tokens = 1): Draw {
    const { burst, onDrawn } = this.#options;
    const bucket = this.#refill(key);
    const allowed = bucket.tokens >= 1;
    if (allowed) {
      this.#take(key, bucket, tokens);
    } else if (bucket.atMs - bucket.syncedAtMs >= resyncAfterMs) {
      bucket.syncedAtMs = bucket.atMs;
      onDrawn(key, this, 0);
    }
    return {
      allowed,
      limit: burst,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      resetSeconds: this.#secondsFor(burst - bucket.tokens),
      retryAfterSeconds: allowed ? 0 : this.#secondsFor(1 - bucket.tokens),
    };
  }

  /**
   * Draws the tokens even if the bucket is empty. For a cost that the gateway measures after it has
   * accepted the request.
   */
  charge(key: string, tokens: number): void {
    this.#take(key, this.#refill(key), tokens);
  }

  #take(key: string, bucket: Bucket, tokens: number): void {
    bucket.tokens -= tokens;
    if (bucket.unreported >= tokens) bucket.unreported -= tokens;
    else this.#options.onDrawn(key, this, tokens);
  }

  /** Adds tokens that were drawn for a request which does not count. */
  giveBack(key: string, tokens: number): void {
    const bucket = this.#refill(key);
    bucket.tokens = Math.min(this.#options.burst, bucket.tokens + tokens);
  }

  /**
   * Refills the key's bucket up to the current time, marks it as most recently used, and returns
   * it.
   */
  #refill(key: string): Bucket {
    const { perSecond, burst, bucketsMax } = this.#options;
    const nowMs = this.#options.nowMs();
    let bucket = this.#buckets.get(key);
    if (bucket) {
      const refilled = ((nowMs - bucket.atMs) * perSecond) / 1_000;
      const tokens = Math.min(burst, bucket.tokens + refilled);
      // Corrects rounding errors: three times a third of a token is a whole token.
      const rounded = Math.round(tokens);
      bucket.tokens = Math.abs(tokens - rounded) < 1e-6 ? rounded : tokens;
      bucket.unreported = Math.min(burst * unreportedShare, bucket.unreported + refilled * unreportedShare);
      bucket.atMs = nowMs;
    } else bucket = { tokens: burst, unreported: burst * unreportedShare, atMs: nowMs, syncedAtMs: nowMs };
    setBounded(this.#buckets, key, bucket, bucketsMax);
    return bucket;
  }

  #secondsFor(tokens: number): number {
    return Math.ceil(tokens / this.#options.perSecond);
  }
}
