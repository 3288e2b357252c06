import { deleteOld, type Orm } from "@amana/database";

/** Deletes finished replays after 30 days, the retention of events. */
export const deleteOldReplays = ({ orm }: { readonly orm: Orm }): Promise<number> =>
  deleteOld(orm.em.fork(), {
    table: "webhook_replay",
    since: "created_at",
    olderThan: "30 days",
    where: "status = 'DONE'",
  });
