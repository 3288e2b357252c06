import { beginSpan, createBatcher, faultPoint, readRetryAfterMs } from "@amana/runtime";
import type { Context } from "../context.ts";
import { type HttpClient, type PostOutcome, secretUnreadable } from "../http-client/http-client.ts";
import { observeAttempt, observeFirstAttempt } from "../metrics.ts";
import type { AttemptCounter } from "../webhook-endpoint/count-attempts.ts";
import { decryptSecretsIfReadable, type SigningSecrets } from "../webhook-endpoint/secrets.ts";
import { type LeasedDelivery, release } from "./claim-due-deliveries.ts";
import { type AttemptResult, createRecorder } from "./record-attempts.ts";
import { retryPauseMs } from "./retry-policy.ts";
import { deliveryHeaders } from "./signature.ts";

/**
 * An endpoint is slow (its circuit breaker is open) if its last attempt took at least this long,
 * failed before its connection was ready, or failed with a TLS error.
 */
const slowMs = 3_000;
/**
 * Maximum total wait of an attempt for its slot and its slot for connecting. It is short, because
 * the URL and the secret were read when the delivery was leased, and can change during the wait.
 */
const waitMsMax = 3_000;

/**
 * Creates a function that makes one attempt at a leased delivery. The function waits for a slot,
 * signs the body, sends the POST, records the result and schedules the next attempt.
 */
export function createAttempt(
  context: Context,
  {
    client,
    counter,
    onSlotFree,
  }: {
    readonly client: HttpClient;
    readonly counter: AttemptCounter;
    /** Called when the attempt has ended, before its result is recorded. */
    onSlotFree(delivery: LeasedDelivery): void;
  },
) {
  const { orm, logger, clock, limits, signals } = context;
  const record = createRecorder(context);
  const releaseLease = createBatcher<LeasedDelivery>(500, (deliveries) => release(orm, deliveries));

  return async (delivery: LeasedDelivery): Promise<void> => {
    const { business_id, endpoint_id } = delivery;
    const ids = { delivery_id: delivery.id, event_id: delivery.event_id, endpoint_id };
    const slots = delivery.slow ? limits.slow : limits.healthy;
    const waitsUntilMs = performance.now() + waitMsMax;
    if (!(await slots.acquire(business_id, waitMsMax, endpoint_id))) return await releaseLease([delivery]);
    const at = clock.now();
    const secrets = decryptSecretsIfReadable(context, delivery, ids);
    let outcome: PostOutcome | undefined = { ...emptyOutcome, failure: secretUnreadable };
    try {
      if (secrets) outcome = await send(client, delivery, secrets, { at, waitsUntilMs });
    } finally {
      slots.release(business_id, endpoint_id);
      onSlotFree(delivery);
    }
    // `post` returns undefined in two cases. Either this process is stopping and has aborted the
    // attempt, so the endpoint may have received the request, or the attempt got no slot for
    // connecting.
    if (!outcome) return await releaseLease([delivery]);
    faultPoint("delivery.posted");

    const result = resultOf(context, delivery, outcome, at);
    await record([result]);
    if (secrets) counter.count(delivery, outcome.durationMs, result.status === "SUCCEEDED");
    observeAttempt(result);
    // After status 410, the delivery is due again immediately if the endpoint has been changed or
    // enabled since the attempt began.
    if (result.gone) signals.emit("due");
    logger[result.status === "SUCCEEDED" ? "debug" : "info"](
      {
        ...ids,
        attempt: delivery.attempts + 1,
        status_code: outcome.statusCode,
        error: outcome.failure?.code,
        duration_ms: outcome.durationMs,
        retry_in_ms: result.retry_in_ms,
      },
      result.gone ? "endpoint responded with 410" : logMessages[result.status],
    );
  };
}

const logMessages = {
  SUCCEEDED: "delivery succeeded",
  PENDING: "delivery failed, retry scheduled",
  FAILED: "delivery failed, not retried",
};

const emptyOutcome = {
  statusCode: undefined,
  retryAfter: undefined,
  response: undefined,
  durationMs: 0,
  hasConnected: true,
};

/**
 * Signs and sends a delivery, in a span of the event's trace. The span contains only the URL's
 * host, because paths and queries often contain secrets. The request contains no trace header.
 */
async function send(
  client: HttpClient,
  delivery: LeasedDelivery,
  secrets: SigningSecrets,
  { at, waitsUntilMs }: { readonly at: Date; readonly waitsUntilMs: number },
): Promise<PostOutcome | undefined> {
  const { type, event_id, business_id } = delivery;
  const span = beginSpan("client", "POST webhook", delivery.traceparent ?? undefined);
  const url = new URL(delivery.url);
  const body = Buffer.from(delivery.body);
  const sender = { businessId: business_id, slotWaitMs: Math.max(0, waitsUntilMs - performance.now()) };
  const outcome = await client.post(sender, url, deliveryHeaders(type, event_id, at, body, secrets), body);
  if (outcome && delivery.is_first) observeFirstAttempt(delivery, outcome.durationMs);
  span?.set({
    "http.request.method": "POST",
    "http.response.status_code": outcome?.statusCode,
    "server.address": url.hostname,
    "amana.attempt": delivery.attempts + 1,
    "amana.delivery_id": delivery.id,
    "amana.event_id": event_id,
    "amana.event_type": type,
    "amana.endpoint_id": delivery.endpoint_id,
    "amana.business_id": business_id,
  });
  span?.end(outcome ? (outcome.failure?.code.toLowerCase() ?? failedStatus(outcome.statusCode)) : "cut_off");
  return outcome;
}

const isSuccess = (statusCode = 0) => statusCode >= 200 && statusCode < 300;
const failedStatus = (statusCode = 0) => (isSuccess(statusCode) ? undefined : String(statusCode));

function resultOf(
  { clock, delivery: { pausesMs, timeoutMs } }: Context,
  { id, lease_token, endpoint_id, endpoint_updated_at, attempts }: LeasedDelivery,
  { statusCode, failure, response, retryAfter, durationMs, hasConnected }: PostOutcome,
  at: Date,
): AttemptResult {
  const isGone = statusCode === 410;
  const retryAfterMs = readRetryAfterMs(retryAfter, clock.now().getTime());
  const isFinal = isSuccess(statusCode) || isGone;
  const retryInMs = isFinal ? undefined : retryPauseMs(attempts + 1, pausesMs, { statusCode, retryAfterMs });
  return {
    id,
    lease_token,
    status: isSuccess(statusCode) ? "SUCCEEDED" : retryInMs === undefined ? "FAILED" : "PENDING",
    retry_in_ms: retryInMs ?? null,
    gone: isGone ? { id: endpoint_id, reason: "GONE", updated_at: endpoint_updated_at } : undefined,
    at: at.toISOString(),
    status_code: statusCode ?? null,
    error: failure?.detail ?? null,
    failure: failure?.code ?? null,
    duration_ms: durationMs,
    // A failed TLS connection can take much CPU time. The limits of slow endpoints therefore also
    // apply after an attempt that could not connect or failed with a TLS error. A timer can fire
    // slightly early, so the measured duration of an attempt that timed out may be below
    // `timeoutMs`.
    slow: !hasConnected || failure?.code === "TLS_ERROR" || durationMs >= Math.min(slowMs, timeoutMs - 2),
    response: response ?? null,
  };
}
