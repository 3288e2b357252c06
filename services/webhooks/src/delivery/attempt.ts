import { faultPoint, timeOfUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { answers, attemptDuration, firstAttemptDelay } from "../metrics.ts";
import type { AttemptCounter } from "../webhook-endpoint/count-attempts.ts";
import { openSecrets, type SigningSecrets } from "../webhook-endpoint/secrets.ts";
import { postInSpan } from "./attempt-span.ts";
import { type ClaimedDelivery, release } from "./claim.ts";
import { secretUnreadable } from "./describe-failure.ts";
import type { Attempt } from "./dispatcher.ts";
import type { Answer, Poster } from "./post.ts";
import { type AttemptResult, createRecorder } from "./record.ts";
import { pauseMs, readRetryAfterMs } from "./schedule.ts";
import { deliveryHeaders } from "./sign.ts";

/** An endpoint that takes this long to answer is slow: it may keep few places busy. */
const slowMs = 3_000;

/** One attempt at a leased delivery: sign, POST, record, schedule. One cut off is given back. */
export function createAttempt(context: Context, poster: Poster, counter: AttemptCounter): Attempt {
  const { orm, logger, clock, dispatcher } = context;
  const record = createRecorder(context);
  // The timer that ends an attempt may fire a moment early.
  const isSlow = ({ durationMs }: Answer) => durationMs >= Math.min(slowMs, context.delivery.timeoutMs - 2);

  return async (delivery, answered) => {
    const at = clock.now();
    const body = Buffer.from(delivery.body);
    const secrets = readSecrets(context, delivery);
    if (secrets && delivery.is_first) noteFirst(delivery);
    const answer = secrets
      ? await postInSpan(delivery, () =>
          poster.post(new URL(delivery.url), deliveryHeaders(delivery.type, delivery.event_id, at, body, secrets), body),
        )
      : nothingSent;
    const slow = answer === undefined || isSlow(answer);
    answered(secrets && !slow ? "IN_TIME" : "LATE");
    if (!answer) return await release(orm, [delivery]);
    faultPoint("delivery.posted");
    const result = { ...resultOf(context, delivery, answer), at: at.toISOString(), slow };
    await record([result]);
    noteAttempt(result);
    if (secrets) counter.count(delivery, answer.durationMs, result.status === "SUCCEEDED");
    // What waits for it here goes on in the slow lane, or ends as skipped: either way by a claim.
    if (slow || result.gone) await dispatcher.forget(delivery.business_id, delivery.endpoint_id);
    // After a 410 from a previous URL, the delivery is due immediately.
    if (result.gone) dispatcher.pause.wake();
    logger[result.status === "SUCCEEDED" ? "debug" : "info"](
      {
        delivery_id: delivery.id,
        event_id: delivery.event_id,
        endpoint_id: delivery.endpoint_id,
        attempt: delivery.attempts + 1,
        status_code: answer.statusCode,
        error: answer.failure?.code,
        duration_ms: answer.durationMs,
        retry_in_ms: result.retry_in_ms,
      },
      `a delivery attempt ended: ${result.status}`,
    );
  };
}

const nothingSent: Answer = {
  statusCode: undefined,
  failure: secretUnreadable,
  retryAfter: undefined,
  response: undefined,
  durationMs: 0,
};

/** Returns undefined when the current secret cannot be decrypted, and logs an alert. */
function readSecrets(context: Context, delivery: ClaimedDelivery): SigningSecrets | undefined {
  try {
    return openSecrets(context, delivery);
  } catch (error) {
    const ids = { endpoint_id: delivery.endpoint_id, delivery_id: delivery.id };
    context.logger.error({ err: error, alert: true, ...ids }, "signing secret cannot be decrypted");
    return undefined;
  }
}

function resultOf(
  { clock, delivery: { pausesMs } }: Context,
  delivery: ClaimedDelivery,
  { statusCode, failure, response, retryAfter, durationMs }: Answer,
): Omit<AttemptResult, "at" | "slow"> {
  const succeeded = statusCode !== undefined && statusCode >= 200 && statusCode < 300;
  const gone = statusCode === 410;
  const retryAfterMs = readRetryAfterMs(retryAfter, clock.now().getTime());
  const pause = succeeded || gone ? undefined : pauseMs(delivery.attempts + 1, pausesMs, { statusCode, retryAfterMs });
  return {
    id: delivery.id,
    lease_token: delivery.lease_token,
    status: succeeded ? "SUCCEEDED" : pause === undefined ? "FAILED" : "PENDING",
    retry_in_ms: pause ?? null,
    gone: gone ? { id: delivery.endpoint_id, reason: "GONE", url: delivery.url } : undefined,
    status_code: statusCode ?? null,
    error: failure?.detail ?? null,
    failure: failure?.code ?? null,
    duration_ms: durationMs,
    response: response ?? null,
  };
}

const lanes = { QUICK: "quick", NEW: "new", SLOW: "slow" } as const;

function noteFirst({ event_id, lane }: ClaimedDelivery): void {
  firstAttemptDelay.observe({ lane: lanes[lane] }, Math.max(0, Date.now() - timeOfUuid(event_id)) / 1000);
}

function noteAttempt({ status, status_code, failure, duration_ms }: AttemptResult): void {
  const outcome = status === "PENDING" ? "retried" : status === "SUCCEEDED" ? "succeeded" : "failed";
  answers.inc({ answer: answerOf(status_code, failure) });
  attemptDuration.observe({ outcome }, duration_ms / 1000);
}

/** An endpoint can answer any number: those that mean nothing are one word. */
function answerOf(statusCode: number | null, failure: AttemptResult["failure"]): string {
  if (statusCode !== null && statusCode >= 200 && statusCode < 600) return `${Math.floor(statusCode / 100)}xx`;
  return (failure ?? "INVALID_RESPONSE").toLowerCase();
}
