import { deleteOld } from "@amana/database";
import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";

const everyMs = 60 * 60 * 1000;

export const deleteLeftovers = (context: Context): AsyncDisposable =>
  poll("delete-leftovers", context.logger, () => deleteLeftoversOnce(context), everyMs);

/** A batch of callbacks that were heard: they come again for hours, not for a month. Answers how many there were. */
export const deleteLeftoversOnce = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork() as SqlEntityManager, { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
