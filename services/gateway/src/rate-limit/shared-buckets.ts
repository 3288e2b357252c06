import type { DrawSchema, DrawTokensResponse } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { drawReports } from "../metrics.ts";
import type { TokenBuckets } from "./token-buckets.ts";

type Draw = MessageInitShape<typeof DrawSchema>;

/** Tokens that were drawn from one bucket and not reported yet. */
interface UnreportedDraw {
  readonly key: string;
  readonly buckets: TokenBuckets;
  tokens: number;
}

/** Delay between a draw and its report. */
const reportAfterMs = 250;
/**
 * Fraction of a burst. If the unreported draws of a bucket reach this fraction, they are reported
 * immediately. Otherwise each gateway could permit a whole burst before its report.
 */
const urgentShare = 0.05;
/** Minimum time between two reports. */
const reportIntervalMsMin = 25;
/** Delay after a failed report. */
const retryAfterMs = 1_000;
/** Maximum number of draws in one report. */
const drawsPerReportMax = 500;
/** Maximum number of buckets with unreported draws. Draws from further buckets are not shared. */
const unreportedMax = 10_000;

/**
 * Applies rate limits to several gateways together, without an RPC for each request. A gateway
 * draws from its own buckets, reports the drawn tokens to identity, and sets its buckets to the
 * remaining tokens of all gateways. If the gateways together have permitted too many requests, the
 * number of tokens is negative, and the bucket must be refilled above zero first. While identity is
 * unreachable, each gateway counts separately.
 */
export class SharedBuckets {
  readonly #unreported = new Map<string, UnreportedDraw>();
  readonly #drawTokens: (draws: Draw[]) => Promise<DrawTokensResponse>;
  #timer: NodeJS.Timeout | undefined;
  /** Time on the monotonic clock at which the timer expires. */
  #dueMs = 0;
  /** Time on the monotonic clock before which no report is sent. */
  #notBeforeMs = 0;
  #isReporting = false;

  /** `drawTokens` reports draws. Its results are in the order of the draws. */
  constructor(drawTokens: (draws: Draw[]) => Promise<DrawTokensResponse>) {
    this.#drawTokens = drawTokens;
  }

  /**
   * Records drawn tokens for the next report. With 0 tokens, the report only requests the number of
   * remaining tokens.
   */
  record(limit: string, key: string, buckets: TokenBuckets, tokens: number): void {
    const name = `${limit} ${key}`;
    let entry = this.#unreported.get(name);
    if (!entry) {
      if (this.#unreported.size >= unreportedMax) return;
      entry = { key, buckets, tokens: 0 };
      this.#unreported.set(name, entry);
    }
    entry.tokens += tokens;
    if (!this.#isReporting) this.#schedule(entry);
  }

  #schedule({ tokens, buckets }: UnreportedDraw): void {
    const now = performance.now();
    const isUrgent = tokens >= buckets.rate.burst * urgentShare;
    const dueMs = Math.max(isUrgent ? now : now + reportAfterMs, this.#notBeforeMs);
    if (this.#timer) {
      if (this.#dueMs <= dueMs) return;
      clearTimeout(this.#timer);
    }
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => void this.#report(), dueMs - now).unref();
  }

  async #report(): Promise<void> {
    this.#timer = undefined;
    const entries = [...this.#unreported].slice(0, drawsPerReportMax);
    for (const [name] of entries) this.#unreported.delete(name);
    this.#isReporting = true;
    this.#notBeforeMs = performance.now() + reportIntervalMsMin;
    try {
      const { left } = await this.#drawTokens(
        entries.map(([bucket, { buckets, tokens }]) => ({ bucket, tokens, ...buckets.rate })),
      );
      if (left.length !== entries.length)
        throw new Error(`identity returned the results of ${left.length} draws, expected ${entries.length}`);
      for (const [i, [name, { key, buckets }]] of entries.entries()) {
        // The response does not include the tokens that were drawn during the RPC.
        buckets.setTokens(key, (left[i] as number) - (this.#unreported.get(name)?.tokens ?? 0));
      }
      drawReports.inc({ outcome: "shared" });
    } catch {
      // Identity may have counted the draws before the failure. The draws are not reported again,
      // because a second count would reject requests within the limit.
      drawReports.inc({ outcome: "lost" });
      this.#notBeforeMs = performance.now() + retryAfterMs;
    } finally {
      this.#isReporting = false;
      for (const entry of this.#unreported.values()) this.#schedule(entry);
    }
  }
}
