import { poll } from "@amana/runtime";
import type { Context } from "../context.ts";

const pageMax = 100;
const timeoutMs = 15_000;

/** Reads the provider's events: what changed while no callback could come is checked at once. */
export const catchUp = (context: Context, everySeconds: number): AsyncDisposable =>
  poll("catch-up", context.logger, () => catchUpOnce(context), everySeconds * 1000);

/** One page; answers how many events it had. What two replicas do twice is the same as once. */
export async function catchUpOnce(context: Context): Promise<number> {
  const em = context.orm.em.fork();
  const [row] = await em.execute<{ cursor: string | null }[]>("select cursor from provider_cursor");
  const after = row?.cursor ?? null;
  const page = await context.provider.events(after, pageMax, timeoutMs);
  if (page.kind !== "accepted") {
    context.logger.warn({ outcome: page.kind }, "the provider's events could not be read");
    return 0;
  }
  const { changes, cursor } = page.value;
  // An event that cannot be passed would come again and again without a pause.
  if (cursor === after) return 0;
  await em.execute(
    // Cut off and not rounded, so that whoever holds the time against it later finds the check due;
    // and another time than before, also of one that is being made: it may have asked before these
    // changes.
    `update kyc_application a set next_check_at = date_trunc('milliseconds', now())
     from json_to_recordset(?::json) as v (provider_id text, sequence integer)
     where a.provider_id = v.provider_id and a.sequence < v.sequence
       -- These may have no planned check: one that failed for good can still be cancelled, and an
       -- expired one can still receive the verdict on a submission in time.
       and (a.next_check_at is not null or a.status in ('FAILED', 'EXPIRED'))`,
    [JSON.stringify(changes.map(({ providerId, sequence }) => ({ provider_id: providerId, sequence })))],
  );
  await em.execute("update provider_cursor set cursor = ? where cursor is not distinct from ?", [cursor, after]);
  return changes.length;
}
