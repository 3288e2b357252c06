import { deleteOld, type Orm } from "@amana/database";

/**
 * Deletes keys that have ended or were abandoned a day after their first use, one batch; answers
 * how many. Others stay until they end. For `everyHour`.
 */
export const cleanKeys = ({ orm }: { readonly orm: Orm }, batch?: number): Promise<number> =>
  deleteOld(
    orm.em.fork(),
    {
      table: "idempotency_key",
      since: "created_at",
      olderThan: "24 hours",
      where: "(answer is not null or refusal is not null or held_until < now())",
    },
    batch,
  );
