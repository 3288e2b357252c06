import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { ServiceDescription } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { CommandError, exitCodes } from "../command-error.ts";
import type { ChangeOptions } from "../options.ts";
import { print } from "../print.ts";
import { auditActor } from "./audit-actor.ts";
import { withServices } from "./services.ts";

type HoldOptions = ChangeOptions & { readonly reason: string };

export async function holdRefunds({ minutes, ...options }: HoldOptions & { readonly minutes: number }): Promise<void> {
  const until = await change(options, "held", (em, { hold }) => hold(em, minutes * 60));
  print(`No refund is sent before ${until.toISOString()}.`);
}

export async function releaseRefunds(options: HoldOptions): Promise<void> {
  await change(options, "released", async (em, { release }) => {
    if (!(await release(em))) throw new CommandError("Nothing was changed, because no refund hold exists.");
  });
  print("The refund hold has ended. Refunds are sent again.");
}

/** Changes the refund hold and adds an audit row, in one transaction. */
async function change<T>(
  { as, reason, service = "payments", databaseUrl }: HoldOptions,
  action: "held" | "released",
  work: (em: SqlEntityManager, refunds: NonNullable<ServiceDescription["refunds"]>) => Promise<T>,
): Promise<T> {
  return await withServices({ service, databaseUrl }, async ([database]) => {
    const { refunds } = database.service;
    if (!refunds) throw new CommandError(`${service} has no refunds. Use --service payments or omit it.`, exitCodes.usage);
    return await transaction(database.orm, async (em) => {
      const result = await work(em, refunds);
      database.service.record(em, new Date(), {
        by: auditActor(as),
        action: `refunds.${action}`,
        entity: { type: "refund_hold", id: uuidv7() },
        after: { service },
        reason,
      });
      return result;
    });
  });
}
