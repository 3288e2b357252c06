import { backoffMs, faultPoint } from "@amana/runtime";
import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";
import { type ClaimedDelivery, claimDue, release, untilDueMs } from "./claim.ts";
import { Places } from "./places.ts";
import { type Answer, createPoster } from "./post.ts";
import { type AttemptResult, createRecorder } from "./record.ts";
import { pauseMs, readRetryAfterMs } from "./schedule.ts";
import { signatureHeaders } from "./sign.ts";

export interface Deliverer extends AsyncDisposable {
  /** Resolves when nothing is being sent and nothing is due. For tests. */
  settled(): Promise<void>;
}

const timeoutMsDefault = 10_000;
/** An endpoint that takes this long to answer is slow: it may keep few places busy. */
const slowMs = 3_000;
/** Longer than an attempt and its recording can take, so that only a crash lets a lease end. */
const leaseMarginMs = 20_000;
/** Another process may have died between committing deliveries and taking them up; this bounds how long they wait. */
const idleMsMax = 10_000;
/** The shortest wait when something is due and yet could not be claimed, because another process is at it. */
const contendedMs = 25;
const stopMsDefault = 8_000;

/**
 * Sends due deliveries: claim with a lease, commit, sign, POST, record, schedule. At least once: whoever dies after the
 * POST leaves a lease that ends, and the same event with the same bytes is sent again.
 */
export function startDelivering(context: Context): Deliverer {
  const { orm, logger, clock, secrets, deliveries, delivery: options } = context;
  const { timeoutMs = timeoutMsDefault, stopMs = stopMsDefault } = options;
  const poster = createPoster({ addresses: context.addresses, timeoutMs, connectionsMax: options.concurrency });
  const recorder = createRecorder(orm, logger);
  const stop = new AbortController();
  const sending = new Map<ClaimedDelivery, Promise<void>>();
  const places = new Places({
    total: options.concurrency,
    perBusiness: options.businessConcurrency,
    perEndpoint: options.endpointConcurrency,
  });
  let settledWaiters: (() => void)[] = [];
  let woken = false;
  let wakeUp = () => {};

  const wake = () => {
    woken = true;
    wakeUp();
  };

  const attempt = async (delivery: ClaimedDelivery) => {
    const at = clock.now();
    const body = Buffer.from(delivery.body);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Amana-Webhooks/1.0",
      "x-webhook-event": delivery.type,
      ...signatureHeaders(delivery.event_id, Math.floor(at.getTime() / 1000), body, secretsOf(delivery)),
    };
    const answer = await poster.post(new URL(delivery.url), headers, body);
    if (!answer) return await release(orm, [delivery]);
    faultPoint("delivery.posted");
    const result = resultOf(delivery, at, answer);
    await recorder.record(result);
    logger[result.status === "SUCCEEDED" ? "debug" : "info"](
      {
        delivery_id: delivery.id,
        event_id: delivery.event_id,
        endpoint_id: delivery.endpoint_id,
        attempt: delivery.attempts + 1,
        status_code: answer.statusCode,
        error: answer.error,
        duration_ms: answer.durationMs,
        retry_in_ms: result.retry_in_ms,
      },
      `a delivery attempt ended: ${result.status}`,
    );
  };

  const secretsOf = (delivery: ClaimedDelivery) => {
    const { endpoint_id: id, secret_ciphertext: current, previous_secret_ciphertext: previous } = delivery;
    return {
      current: secrets.decrypt(current, id),
      // Nothing can be sent without the secret, but a good one is not worth less because the one before cannot be read.
      previous: previous ? decryptIfReadable(secrets, previous, id, logger) : undefined,
    };
  };

  const resultOf = (delivery: ClaimedDelivery, at: Date, answer: Answer): AttemptResult => {
    const { statusCode } = answer;
    const succeeded = statusCode !== undefined && statusCode >= 200 && statusCode < 300;
    const gone = statusCode === 410;
    const retryAfterMs = readRetryAfterMs(answer.retryAfter, clock.now().getTime());
    const pause = succeeded || gone ? undefined : pauseMs(delivery.attempts + 1, options.pausesMs, { statusCode, retryAfterMs });
    return {
      id: delivery.id,
      lease_token: delivery.lease_token,
      status: succeeded ? "SUCCEEDED" : pause === undefined ? "FAILED" : "PENDING",
      retry_in_ms: pause ?? null,
      gone,
      url: delivery.url,
      at: at.toISOString(),
      status_code: statusCode ?? null,
      error: answer.error ?? null,
      duration_ms: answer.durationMs,
      slow: answer.durationMs >= Math.min(slowMs, timeoutMs),
      response: answer.response ?? null,
    };
  };

  const send = (delivery: ClaimedDelivery) => {
    places.take(delivery);
    const sent = attempt(delivery)
      // Its lease ends some time and it is tried again, without having used up an attempt.
      .catch((error: unknown) => logger.error({ err: error, delivery_id: delivery.id }, "a delivery could not be attempted"))
      .finally(() => {
        sending.delete(delivery);
        places.giveBack(delivery);
        wake();
      });
    sending.set(delivery, sent);
  };

  /** Takes what there is room for; returns how long nothing more can be done, unless woken. */
  const sendDue = async (): Promise<number> => {
    if (places.free.total <= 0) return idleMsMax;
    const waiters = settledWaiters;
    const claimed = await claimDue(orm, places, timeoutMs + leaseMarginMs);
    for (const delivery of claimed) if (delivery.status === "PENDING") send(delivery);
    if (places.free.total <= 0) return idleMsMax;
    const dueMs = await untilDueMs(orm, places);
    if (dueMs !== undefined && dueMs <= 0) return claimed.length > 0 ? 0 : contendedMs;
    if (sending.size === 0) {
      // What was claimed has ended meanwhile, perhaps after the last look: look again before calling it settled.
      if (claimed.length > 0) return 0;
      settledWaiters = settledWaiters.filter((waiter) => !waiters.includes(waiter));
      for (const resolve of waiters) resolve();
    }
    return Math.min(dueMs ?? idleMsMax, idleMsMax);
  };

  const run = async () => {
    for (let failures = 0; !stop.signal.aborted; ) {
      woken = false;
      let waitMs: number;
      try {
        waitMs = await sendDue();
        failures = 0;
      } catch (error) {
        failures++;
        logger.warn({ err: error, failures }, "due deliveries could not be claimed");
        waitMs = backoffMs(failures, 100, 5_000);
      }
      if (failures > 0) woken = false;
      if (!woken && waitMs > 0 && !stop.signal.aborted) await wakeOrTimeout(waitMs);
    }
  };

  const wakeOrTimeout = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  deliveries.on("due", wake);
  const running = run();

  return {
    async settled() {
      await new Promise<void>((resolve) => {
        settledWaiters = [...settledWaiters, resolve];
        wake();
      });
    },
    async [Symbol.asyncDispose]() {
      deliveries.off("due", wake);
      stop.abort();
      wake();
      await running;
      const timer = setTimeout(poster.cutOff, stopMs);
      await Promise.all(sending.values());
      clearTimeout(timer);
      await poster[Symbol.asyncDispose]();
    },
  };
}
