import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Command } from "commander";
import { byPerson } from "../as.ts";
import { type ChangeOptions, numberFrom, withChangeOptions } from "../options.ts";
import { exitCodes, Refused } from "../refused.ts";
import type { RepairedService } from "../repaired-service.ts";
import { withServices } from "../services.ts";

type Options = ChangeOptions & { readonly reason: string };

/** Whether refunds go out, after a restore. */
export function refunds(program: Command): void {
  const noun = program.command("refunds").description("whether refunds go out, after payments' database was restored");
  withChangeOptions(
    noun
      .command("hold")
      .description("none is sent for a while: after a restore that the service cannot see, of a disk's snapshot"),
  )
    .requiredOption("--reason <text>", "for the audit trail")
    .option(
      "--minutes <minutes>",
      "and REFUND_LATE_EFFECT_SECONDS from when the service sees it, at least",
      numberFrom(1, 10_080),
      25,
    )
    .action(hold);
  withChangeOptions(noun.command("release").description("they go on before the time, for who knows that no commit was lost"))
    .requiredOption("--reason <text>", "how you know, for the audit trail")
    .action(release);
}

async function hold({ minutes, ...options }: Options & { readonly minutes: number }): Promise<void> {
  const until = await change(options, "held", (em, { hold }) => hold(em, minutes * 60));
  process.stdout.write(`No refund is sent before ${until.toISOString()}.\n`);
}

async function release(options: Options): Promise<void> {
  await change(options, "released", async (em, { release }) => {
    if (!(await release(em))) throw new Refused("Refunds are not held.");
  });
  process.stdout.write("Refunds go on.\n");
}

/** One transaction with its row in the audit trail. */
async function change<T>(
  { as, reason, service = "payments", databaseUrl }: Options,
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
