import { poll } from "@amana/runtime";
import type { Context } from "../context.ts";

const pageMax = 100;
const timeoutMs = 15_000;

/**
 * Polls the event list of a provider with our own protocol, and schedules an immediate check of
 * each changed application. This finds changes whose callbacks were lost.
 */
export const catchUp = (context: Context, everySeconds: number): AsyncDisposable[] =>
  context.providers.find("port") ? [poll("catch-up", context.logger, () => catchUpOnce(context), everySeconds * 1000)] : [];

/** Processes one page and returns its number of events. Idempotent, so replicas may overlap. */
export async function catchUpOnce(context: Context): Promise<number> {
  const em = context.orm.em.fork();
  const [row] = await em.execute<{ cursor: string | null }[]>("select cursor from provider_cursor");
  const previousCursor = row?.cursor ?? null;
  const page = await context.providers.find("port")?.listChanges?.(previousCursor, pageMax, timeoutMs);
  if (!page) return 0;
  if (page.kind !== "accepted") {
    context.logger.warn({ outcome: page.kind }, "event list of the provider could not be read");
    return 0;
  }
  const { changes, cursor } = page.value;
  // Returns 0, because with the same cursor the caller would read the same page in an endless loop.
  if (cursor === previousCursor) return 0;
  await em.execute(
    // Truncates the time, because a rounded time could be in the future. A read in progress may
    // have missed these changes. That read does not replace this time, because `planCheck` detects
    // that next_check_at has changed since the read began.
    `update kyc_application a set next_check_at = date_trunc('milliseconds', now())
     from json_to_recordset(?::json) as v (provider_id text, sequence integer)
     where a.provider = 'port' and a.provider_id = v.provider_id and a.sequence < v.sequence
       -- Without a planned check, a FAILED application can still be cancelled, and an EXPIRED
       -- application can still receive the verdict on a submission in time.
       and (a.next_check_at is not null or a.status in ('FAILED', 'EXPIRED'))`,
    [JSON.stringify(changes.map(({ providerId, sequence }) => ({ provider_id: providerId, sequence })))],
  );
  await em.execute("update provider_cursor set cursor = ? where cursor is not distinct from ?", [cursor, previousCursor]);
  return changes.length;
}
