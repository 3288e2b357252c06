import { deleteOld, type Orm } from "@amana/database";

/**
 * Deletes a batch of keys whose execution ended or was abandoned 24 hours ago. Returns the number
 * of deleted keys.
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
