import type { Refund } from "@amana/client";
import { refundOutcomes } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../ask.ts";
import { numberFrom, withChangeOptions } from "../../options.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, wordsFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

const columns: Columns<Refund> = {
  ID: ({ id }) => id,
  STATUS: ({ status, needs_decision }) => (needs_decision ? `${status}, to decide` : status),
  AMOUNT: { of: ({ amount }) => amount, right: true },
  PAYMENT: { of: ({ payment_id }) => payment_id, spare: 2 },
  SENT: { of: ({ sends }) => sends, right: true, spare: 3 },
  "AT THE PROCESSOR": { of: ({ processor }) => processor.refunded_amount, right: true, spare: 4 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 5 },
  REASON: { of: ({ decision_reason }) => decision_reason, spare: 1 },
};

type Outcome = (typeof refundOutcomes)[number];

const meanings: Readonly<Record<string, string>> = {
  ACCEPTED: "The processor gave it back: its payment becomes REFUNDED, and its business is told.",
  REJECTED: "The processor did not give it back and will not: its payment is PAID again.",
  SEND_AGAIN: "It is sent once more, when a read then shows that nothing was given back.",
};

/** Given back: by the API; whether any goes out, after a restore: at the database. */
export function refunds(program: Command): void {
  const noun = program
    .command("refunds")
    .description("list, decide; hold, release: at the database, after a restore of payments");
  withListOptions(
    apiCommand<ListOptions & { readonly toDecide?: boolean }>(
      noun,
      "list",
      { says: "refunds of all businesses, newest first", example: "refunds list --to-decide", key: ["operator"] },
      (api, { toDecide, ...options }) =>
        showList(api, options, { columns, none: toDecide ? "None waits for a decision." : "There is none." }, (page) =>
          api.amana.refunds.list({ ...page, ...(toDecide && { needs_decision: true }) }, api.call()),
        ),
    ),
  ).option("--to-decide", "only those that wait for a person");
  apiCommand<ApiOptions & { readonly outcome: Outcome; readonly note: string }>(
    noun,
    "decide <id>",
    {
      says: "brings a refund to its end that waits for a person",
      example: 'refunds decide 0199… --outcome ACCEPTED --note "on the processor\'s statement of 20 November"',
      key: ["operator"],
      ask: () => "refunds list",
      asksFirst: true,
      more: Object.entries(meanings)
        .map(([outcome, meaning]) => `${outcome}: ${meaning}`)
        .join("\n"),
    },
    async ({ amana, call }, { outcome, note, ...options }, id: string) => {
      await confirm(`The refund ${id}: ${outcome}. ${meanings[outcome]} Go on?`, options);
      showOne(await amana.refunds.resolve(id, { outcome, note }, call()), options);
    },
  )
    .addOption(new Option("--outcome <outcome>").choices(refundOutcomes).makeOptionMandatory())
    .requiredOption("--note <text>", "why, for the audit trail", wordsFrom);
  holding(noun);
}

function holding(noun: Command): void {
  withChangeOptions(
    noun
      .command("hold")
      .description("none is sent for a while: after a restore that the service cannot see, of a disk's snapshot"),
    'refunds hold --reason "snapshot of 20 November"',
  )
    .requiredOption("--reason <text>", "for the audit trail")
    .option(
      "--minutes <minutes>",
      "and REFUND_LATE_EFFECT_SECONDS from when the service sees it, at least",
      numberFrom(1, 10_080),
      25,
    )
    .action(async (options) => (await import("../../database/hold-refunds.ts")).hold(options));
  withChangeOptions(
    noun.command("release").description("they go on before the time, for who knows that no commit was lost"),
    'refunds release --reason "nothing was lost"',
  )
    .requiredOption("--reason <text>", "how you know, for the audit trail")
    .action(async (options) => (await import("../../database/hold-refunds.ts")).release(options));
}
