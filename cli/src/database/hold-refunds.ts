import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { RepairedService } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { ChangeOptions } from "../options.ts";
import { exitCodes, Refused } from "../refused.ts";
import { byPerson } from "./as.ts";
import { withServices } from "./services.ts";

type HoldOptions = ChangeOptions & { readonly reason: string };

export async function hold({ minutes, ...options }: HoldOptions & { readonly minutes: number }): Promise<void> {
  const until = await change(options, "held", (em, { hold }) => hold(em, minutes * 60));
  process.stdout.write(`No refund is sent before ${until.toISOString()}.\n`);
}

export async function release(options: HoldOptions): Promise<void> {
  await change(options, "released", async (em, { release }) => {
    if (!(await release(em))) throw new Refused("Refunds are not held.");
  });
  process.stdout.write("Refunds go on.\n");
}

/** One transaction with its row in the audit trail. */
async function change<T>(
  { as, reason, service = "payments", databaseUrl }: HoldOptions,
  did: "held" | "released",
  work: (em: SqlEntityManager, refunds: NonNullable<RepairedService["refunds"]>) => Promise<T>,
): Promise<T> {
  return await withServices({ service, databaseUrl }, async ([opened]) => {
    const refunds = opened?.service.refunds;
    if (!opened || !refunds) throw new Refused(`${service} gives nothing back; that is payments.`, exitCodes.usage);
    return await transaction(opened.orm, async (em) => {
      const result = await work(em, refunds);
      opened.service.record(em, new Date(), {
        by: byPerson(as),
        action: `refunds.${did}`,
        entity: { type: "refund_hold", id: uuidv7() },
        after: { service },
        reason,
      });
      return result;
    });
  });
}
