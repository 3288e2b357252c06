import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/**
 * Deletes a batch of processed callbacks and returns its size. Old rows are not needed to detect
 * repeated callbacks, because the provider repeats a callback for a few hours at most.
 */
export const deleteProviderEvents = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
