import { deleteOld } from "@amana/database";
import type { Context } from "../context.ts";

/** Deletes a batch of heard callbacks; answers how many. They come again for hours at most. */
export const deleteLeftovers = ({ orm }: Context, batch?: number): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "provider_event", since: "received_at", olderThan: "30 days" }, batch);
