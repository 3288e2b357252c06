import { poll } from "@amana/runtime";
import type { Context } from "../context.ts";

const pageMax = 100;
const timeoutMs = 15_000;

/**
 * Polls the event list of the provider `port`, which implements our own protocol, and schedules an
 * immediate check of each changed application. The job finds changes whose callbacks were lost.
 */
export const catchUp = (context: Context, everySeconds: number): AsyncDisposable[] =>
  context.providers.find("port") ? [poll("catch-up", context.logger, () => catchUpOnce(context), everySeconds * 1000)] : [];

/**
 * Processes one page of the event list. Returns the number of readable changes on the page. The
 * function is idempotent, so several replicas may run it at the same time.
 */
export async function catchUpOnce(context: Context): Promise<number> {
  const em = context.orm.em.fork();
  const [row] = await em.execute<{ cursor: string | null }[]>("select cursor from provider_cursor");
  const previousCursor = row?.cursor ?? null;
  const page = await context.providers.find("port")?.listChanges?.(previousCursor, pageMax, timeoutMs);
  if (!page) return 0;
  if (page.kind !== "accepted") {
    context.logger.warn({ outcome: page.kind }, "provider's event list could not be read");
    return 0;
  }
  const { changes, cursor } = page.value;
  // Returns 0, because the caller would otherwise read the same page in an endless loop.
  if (cursor === previousCursor) return 0;
  await em.execute(
    // Truncates the time, because a rounded time could be in the future. A read of the application
    // that is in progress may have missed the change. This read does not replace the new
    // next_check_at, because `planCheck` detects that the column has changed since the read began.
    `update kyc_application a set next_check_at = date_trunc('milliseconds', now())
     from json_to_recordset(?::json) as v (provider_id text, sequence integer)
     where a.provider = 'port' and a.provider_id = v.provider_id and a.sequence < v.sequence
       -- Includes FAILED and EXPIRED applications without a planned check. The provider can still
       -- cancel a FAILED application, or send the verdict on an EXPIRED application's submission.
       and (a.next_check_at is not null or a.status in ('FAILED', 'EXPIRED'))`,
    [JSON.stringify(changes.map(({ providerId, sequence }) => ({ provider_id: providerId, sequence })))],
  );
  await em.execute("update provider_cursor set cursor = ? where cursor is not distinct from ?", [cursor, previousCursor]);
  return changes.length;
}
