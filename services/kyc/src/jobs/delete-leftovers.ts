import { deleteOld } from "@amana/database";
import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";

const everyMs = 60 * 60 * 1000;

export const deleteLeftovers = (context: Context): AsyncDisposable =>
  poll("delete-leftovers", context.logger, () => deleteLeftoversOnce(context), everyMs);

/**
 * A batch of each: callbacks come again for hours, not for a month, and a link request is good as long as its
 * Idempotency-Key. Answers how many there were.
 */
export async function deleteLeftoversOnce({ orm }: Context, batch?: number): Promise<number> {
  const em = orm.em.fork() as SqlEntityManager;
  const events = { table: "provider_event", since: "received_at", olderThan: "30 days" };
  const requests = { table: "link_request", since: "created_at", olderThan: "24 hours", where: "leased_until < now()" };
  return (await deleteOld(em, events, batch)) + (await deleteOld(em, requests, batch));
}
