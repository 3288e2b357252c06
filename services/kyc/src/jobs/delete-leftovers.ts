import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/**
 * Deletes a batch of callbacks that were heard: they come again for hours, not for a month. Answers
 * how many there were.
 */
export const deleteLeftovers = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
