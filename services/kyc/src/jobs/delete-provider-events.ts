import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/**
 * Deletes a batch of processed callbacks and returns its size. The rows detect repeated callbacks.
 * They are not needed after 30 days, because the provider repeats a callback for at most a few
 * hours.
 */
export const deleteProviderEvents = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
