import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";

const everyMs = 60 * 60 * 1000;

/** Callbacks come again for hours, not for a month; a link request is good as long as its Idempotency-Key. */
export const deleteLeftovers = ({ orm, logger }: Context): AsyncDisposable =>
  poll(
    "delete-leftovers",
    logger,
    async () => {
      const em = orm.em.fork() as SqlEntityManager;
      await em.execute("delete from provider_event where received_at < now() - interval '30 days'");
      await em.execute("delete from link_request where created_at < now() - interval '24 hours' and leased_until < now()");
      return 0;
    },
    everyMs,
  );
