import { deleteOld, type Orm } from "@amana/database";

/** Deletes a batch of keys a day after their first use, unless still open; answers how many. */
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
