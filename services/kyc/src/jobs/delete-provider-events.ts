import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/**
 * Deletes a batch of rows about processed callbacks. Returns the number of deleted rows. kyc uses
 * the rows to detect repeated callbacks. Rows older than 30 days are not needed, because a provider
 * repeats a callback for at most a few hours.
 */
export const deleteProviderEvents = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
