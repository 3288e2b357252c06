import { deleteOld, type Orm } from "@amana/database";

/** Deletes finished replays 30 days after their creation. Events are also stored for 30 days. */
export const deleteOldReplays = ({ orm }: { readonly orm: Orm }): Promise<number> =>
  deleteOld(orm.em.fork(), {
    table: "webhook_replay",
    since: "created_at",
    olderThan: "30 days",
    where: "status = 'DONE'",
  });
