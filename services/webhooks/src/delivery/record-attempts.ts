import { checkDue, type Orm, preparedQuery } from "@amana/database";
import { backoffMs, createBatcher, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import type { FailureCode } from "../http-client/http-client.ts";
import { type DisableRequest, disableEndpoints } from "../webhook-endpoint/disable-endpoints.ts";

/** The result of an attempt and its effect on the delivery. */
export interface AttemptResult {
  readonly id: string;
  readonly lease_token: string;
  /** PENDING means that another attempt follows. */
  readonly status: "SUCCEEDED" | "FAILED" | "PENDING";
  readonly retry_in_ms: number | null;
  /**
   * Request to disable the endpoint, set if it responded with status 410. The request is ignored if
   * the endpoint has been changed or enabled since the attempt began.
   */
  readonly gone: Extract<DisableRequest, { reason: "GONE" }> | undefined;
  readonly at: string;
  readonly status_code: number | null;
  /**
   * The reason why no response arrived, as text for the business. `failure` is the reason's code.
   */
  readonly error: string | null;
  readonly failure: FailureCode | null;
  readonly duration_ms: number;
  /** True opens and false closes the endpoint's circuit breaker; see `ConcurrencyLimits`. */
  readonly slow: boolean;
  readonly response: string | null;
}

const batchMax = 500;
/**
 * Time for which a batch waits for further results. At a low rate, a separate commit for each
 * result would cost a sixth of the CPU of a delivery. No receiver waits for the record, and the
 * attempt's slot is already free. After a crash, the attempts whose results were not recorded are
 * repeated.
 */
const batchWaitMs = 25;
const writeAttemptsMax = 3;

/**
 * Creates a function that records attempt results in batches. The function never throws. If results
 * cannot be written, the leases of their deliveries expire and the attempts are repeated.
 */
export const createRecorder = (context: Context) =>
  createBatcher<AttemptResult>(
    batchMax,
    async (results) => {
      const failing = await writeResults(context, results);
      if (results.some(({ status }) => status === "PENDING")) checkDue(context.orm);
      // If this call fails, the endpoint's next failed attempt requests the disabling again.
      await disableEndpoints(context, failing).catch((error: unknown) =>
        context.logger.warn({ err: error }, "failing endpoints not disabled, next try after their next failed attempt"),
      );
    },
    batchWaitMs,
  );

/**
 * Records results and retries a failed write. Returns the endpoints whose attempts have failed for
 * five days. After the last failed retry, logs an error and returns no endpoints.
 */
async function writeResults(context: Context, results: readonly AttemptResult[]): Promise<DisableRequest[]> {
  const { orm, logger } = context;
  for (let failures = 1; ; failures++) {
    try {
      // Disables the endpoints before recording the results. A delivery is not retried after status
      // 410 is recorded, so after a crash no later attempt would disable the endpoint.
      const gone = results.flatMap((result) => result.gone ?? []);
      await disableEndpoints(context, gone);
      const failing = await recordResults(orm, results);
      return failing.map(({ id }) => ({ id, reason: "FAILING" }));
    } catch (error) {
      if (failures === writeAttemptsMax) {
        logger.error({ err: error, count: results.length }, "attempt results not recorded, deliveries are repeated");
        return [];
      }
      await sleep(backoffMs(failures, 50, 1_000));
    }
  }
}

/**
 * Inserts the attempts, updates deliveries that still have the attempt's lease, and updates the
 * health of their endpoints, in one statement. A response with status 410 is outdated if the
 * endpoint is ACTIVE and has been changed or enabled since the attempt began. The delivery is then
 * due immediately, and the attempt does not count. If the endpoint is DISABLED, this or another
 * response may have disabled it, so the attempt counts. An attempt that sent no request, because
 * the secret could not be decrypted, does not change the health. Returns the endpoints whose
 * attempts have failed for five days.
 *
 * Locks deliveries and endpoints in the order of their ids, as all statements that wait for several
 * of these locks. The statement writes results of all businesses, so a deadlock with the
 * redeliveries of one business would delay the others.
 */
async function recordResults(orm: Orm, results: readonly AttemptResult[]): Promise<{ id: string }[]> {
  return await preparedQuery<{ id: string }>(
    orm.em,
    `with result as (
       select r.*, d.business_id, d.endpoint_id,
         coalesce(e.status = 'ACTIVE' and e.updated_at <> (r.gone ->> 'updated_at')::timestamptz, false) as is_outdated
       from jsonb_to_recordset($1::jsonb) as r (id uuid, lease_token uuid, status text, retry_in_ms float8, gone jsonb,
         at timestamptz, status_code integer, error text, failure text, duration_ms integer, slow boolean, response text)
       join delivery d on d.id = r.id left join webhook_endpoint e on e.id = d.endpoint_id
     ), moved as (
       update delivery d
       set status = case when r.is_outdated then 'PENDING' else r.status end,
           attempts = d.attempts + case when r.is_outdated then 0 else 1 end, lease_token = null, leased_until = null,
           next_attempt_at = case when r.is_outdated then now() else now() + r.retry_in_ms * interval '1 millisecond' end
       from result r
       where d.id = any(array(select id from delivery where id = any($2::uuid[]) order by id for no key update))
         and d.id = r.id and d.lease_token = r.lease_token
     ), logged as (
       insert into delivery_attempt (delivery_id, business_id, at, status_code, error, failure, duration_ms, response)
       select id, business_id, at, status_code, error, failure, duration_ms, response from result
     ), outcome as (
       select e.id, bool_or(r.status = 'SUCCEEDED') as worked, bool_or(r.slow) as slow,
         max(coalesce(lower(r.failure), 'http_' || r.status_code)) filter (where r.status <> 'SUCCEEDED') as error,
         not bool_or(r.status = 'SUCCEEDED') and e.status = 'ACTIVE' and e.failing_since < now() - interval '5 days' as is_over
       from result r join webhook_endpoint e on e.id = r.endpoint_id
       where not r.is_outdated and r.failure is distinct from 'SECRET_UNREADABLE'
       group by e.id
     ), changed as materialized (
       select o.* from webhook_endpoint e join outcome o on o.id = e.id
       where o.worked = (e.failing_since is not null) or o.slow <> e.slow or o.error <> coalesce(e.last_error, '')
       order by e.id for no key update of e
     ), endpoint as (
       update webhook_endpoint e
       set slow = c.slow, last_error = coalesce(c.error, e.last_error),
           failing_since = case when not c.worked then coalesce(e.failing_since, now()) end,
           version = e.version + 1
       from changed c where e.id = c.id
     )
     select id from outcome where is_over`,
    [JSON.stringify(results), results.map(({ id }) => id)],
  );
}
