import type { Refund, ResolveRefundBody } from "@amana/client";
import { refundOutcomes } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../confirm.ts";
import { withChangeOptions } from "../../options.ts";
import { numberParser, parseText } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, withListOptions } from "../list-command.ts";

const columns: Columns<Refund> = {
  ID: ({ id }) => id,
  STATUS: ({ status, needs_decision }) => (needs_decision ? `${status}, needs decision` : status),
  AMOUNT: { cellOf: ({ amount }) => amount, alignRight: true },
  PAYMENT: { cellOf: ({ payment_id }) => payment_id, omitOrder: 2 },
  SENT: { cellOf: ({ sends }) => sends, alignRight: true, omitOrder: 3 },
  "AT THE PROCESSOR": { cellOf: ({ processor }) => processor.refunded_amount, alignRight: true, omitOrder: 4 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 5 },
  REASON: { cellOf: ({ decision_reason }) => decision_reason, omitOrder: 1 },
};

const outcomeEffects: Readonly<Record<ResolveRefundBody["outcome"], string>> = {
  ACCEPTED: "The processor has refunded the payment. It becomes REFUNDED, and the business is notified.",
  REJECTED: "The processor has not refunded the payment and will not refund it. The payment stays PAID.",
  SEND_AGAIN: "The refund is sent once more, after a read at the processor shows that nothing was refunded.",
};

/** `list` and `decide` use the API. `hold` and `release` use the database, after a restore. */
export function refunds(program: Command): void {
  const group = program
    .command("refunds")
    .description("list or decide refunds; hold or release them in the database after a restore of payments");
  withListOptions(
    apiCommand<ListOptions & { readonly toDecide?: boolean }>(
      group,
      "list",
      { summary: "list refunds of all businesses, newest first", example: "refunds list --to-decide", key: ["operator"] },
      (api, { toDecide, ...options }) =>
        showList(api, options, { columns, emptyText: toDecide ? "No refund needs a decision." : "No refunds found." }, (page) =>
          api.amana.refunds.list({ ...page, ...(toDecide && { needs_decision: true }) }, api.requestOptions()),
        ),
    ),
  ).option("--to-decide", "only refunds that need a decision");
  apiCommand<ApiOptions & ResolveRefundBody>(
    group,
    "decide <id>",
    {
      summary: "decide a refund that needs a decision",
      example: 'refunds decide 0199… --outcome ACCEPTED --note "on the processor\'s statement of 20 November"',
      key: ["operator"],
      statusCommand: () => "refunds list",
      needsConfirmation: true,
      helpNote: `\nOutcomes:\n${Object.entries(outcomeEffects)
        .map(([outcome, effect]) => `  ${outcome.padEnd(12)}${effect}`)
        .join("\n")}`,
    },
    async ({ amana, requestOptions }, { outcome, note, ...options }, id: string) => {
      await confirm(`Refund ${id}: ${outcome}. ${outcomeEffects[outcome]} Continue?`, options);
      return await amana.refunds.resolve(id, { outcome, note }, requestOptions());
    },
  )
    .addOption(new Option("--outcome <outcome>", "your decision").choices(refundOutcomes).makeOptionMandatory())
    .requiredOption("--note <text>", "reason in the audit trail", parseText);
  addHoldCommands(group);
}

function addHoldCommands(group: Command): void {
  withChangeOptions(
    group
      .command("hold")
      .description(
        "send no refunds for a period, after a restore that the payments service cannot detect, such as the restore of a disk snapshot",
      ),
    'refunds hold --reason "snapshot of 20 November"',
  )
    .requiredOption("--reason <text>", "reason in the audit trail")
    .option(
      "--minutes <minutes>",
      "minimum length of the hold; the payments service extends a hold that is shorter than REFUND_LATE_EFFECT_SECONDS",
      numberParser(1, 10_080),
      25,
    )
    .action(async (options) => (await import("../../database/hold-refunds.ts")).holdRefunds(options));
  withChangeOptions(
    group.command("release").description("end a refund hold early; use it only if the database lost no committed transaction"),
    'refunds release --reason "nothing was lost"',
  )
    .requiredOption("--reason <text>", "reason in the audit trail: why no committed transaction was lost")
    .action(async (options) => (await import("../../database/hold-refunds.ts")).releaseRefunds(options));
}
