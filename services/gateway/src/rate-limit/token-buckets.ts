import { setBounded } from "@amana/runtime";

/** What became of one request for a token. */
export interface Draw {
  readonly allowed: boolean;
  /** The most that can be drawn at once. */
  readonly limit: number;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetSeconds: number;
  /** Until the next token is there; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

interface Bucket {
  /** Below 0 where several gateways together let too many through, or after a large draw. */
  tokens: number;
  /** What may be drawn without telling the other gateways. */
  quiet: number;
  atMs: number;
  /** When it was last taken over from all gateways, or asked for. */
  heardMs: number;
}

interface TokenBucketsOptions {
  /** How fast tokens come back. */
  readonly perSecond: number;
  /** How many a bucket holds. */
  readonly burst: number;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly bucketsMax?: number;
  /**
   * Told of tokens that other gateways have to hear of, and of none where it is time to hear of
   * theirs; nobody, unless there may be others.
   */
  readonly onDrawn?: (key: string, buckets: TokenBuckets, tokens: number) => void;
}

/** The part of a limit that each gateway may let through unheard: twenty of them a tenth. */
const quietShare = 0.005;
/**
 * Who is refused is told when to come back, which others' draws may have put off. That is told in
 * whole seconds.
 */
const hearAgainAfterMs = 1_000;

/**
 * A bucket of tokens for each key, full at first. Memory is bounded: past `bucketsMax` the bucket
 * that was used longest ago is forgotten, which is the one most likely to be full anyway.
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

  /** What is left of a bucket that several gateways draw from. */
  settle(key: string, tokens: number): void {
    const bucket = this.#take(key);
    bucket.tokens = Math.min(this.#options.burst, tokens);
    bucket.heardMs = bucket.atMs;
  }

  /** Draws so many tokens if there is one. The bucket pays back first what it did not have. */
  draw(key: string, tokens = 1): Draw {
    const { burst, onDrawn } = this.#options;
    const bucket = this.#take(key);
    const allowed = bucket.tokens >= 1;
    if (allowed) {
      bucket.tokens -= tokens;
      if (bucket.quiet >= tokens) bucket.quiet -= tokens;
      else onDrawn(key, this, tokens);
    } else if (bucket.atMs - bucket.heardMs >= hearAgainAfterMs) {
      bucket.heardMs = bucket.atMs;
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

  /** The key's bucket as it is now, at the young end of the map. */
  #take(key: string): Bucket {
    const { perSecond, burst, bucketsMax } = this.#options;
    const nowMs = this.#options.nowMs();
    let bucket = this.#buckets.get(key);
    if (bucket) {
      const back = ((nowMs - bucket.atMs) * perSecond) / 1_000;
      const tokens = Math.min(burst, bucket.tokens + back);
      // A third of a token three times over is a whole one.
      const whole = Math.round(tokens);
      bucket.tokens = Math.abs(tokens - whole) < 1e-6 ? whole : tokens;
      bucket.quiet = Math.min(burst * quietShare, bucket.quiet + back * quietShare);
      bucket.atMs = nowMs;
    } else bucket = { tokens: burst, quiet: burst * quietShare, atMs: nowMs, heardMs: nowMs };
    setBounded(this.#buckets, key, bucket, bucketsMax);
    return bucket;
  }

  #secondsFor(tokens: number): number {
    return Math.ceil(tokens / this.#options.perSecond);
  }
}
