import { deleteOld, type Orm } from "@amana/database";

/** Replays that are DONE are shown as long as the events that they were about. */
export const deleteOldReplays = ({ orm }: { readonly orm: Orm }): Promise<number> =>
  deleteOld(orm.em.fork(), {
    table: "webhook_replay",
    since: "created_at",
    olderThan: "30 days",
    where: "status = 'DONE'",
  });
