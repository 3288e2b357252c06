import type { ListChangedPaymentsItem, Payment } from "@amana/client";
import { paymentStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { exitCodes } from "../../command-error.ts";
import { confirm } from "../../confirm.ts";
import { parseAmount, parseText, parseTime } from "../../parsers.ts";
import { type Columns, jsonText, localTime, print, printFields } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";
import { printStatement, type StatementOptions } from "../statement.ts";
import { printTimeline, timelineForBusiness } from "../timeline.ts";

const columns: Columns<Payment> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  AMOUNT: { cellOf: ({ amount }) => amount, alignRight: true },
  CURRENCY: { cellOf: ({ currency }) => currency, omitOrder: 2 },
  ORDER: { cellOf: ({ order_ref }) => order_ref, minWidth: 6, omitOrder: 3 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 1 },
};

const changedColumns: Columns<ListChangedPaymentsItem> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  AMOUNT: { cellOf: ({ amount }) => amount, alignRight: true },
  REFUNDED: { cellOf: ({ refunded_amount }) => refunded_amount, alignRight: true, omitOrder: 1 },
  ORIGIN: { cellOf: ({ origin }) => origin, omitOrder: 2 },
  BUSINESS: { cellOf: ({ business_id }) => business_id, omitOrder: 3 },
  DIFFERENCE: { cellOf: ({ difference }) => difference, minWidth: 10 },
};

interface Filters {
  readonly status?: Payment["status"];
  readonly orderRef?: string;
  readonly from?: string;
  readonly to?: string;
}

export function payments(program: Command): void {
  const group = program.command("payments").description("list, show, refresh or refund card payments, or print a statement");
  listCommand<Payment, Filters>(
    group,
    "list",
    {
      summary: "list payments, newest first",
      example: "payments list --status PAID --from 2026-11-20",
      key: ["business"],
      columns,
      emptyText: "No payments found.",
    },
    ({ amana, requestOptions }, page, { status, orderRef: order_ref, from: created_from, to: created_to }) =>
      amana.payments.list({ ...page, status, order_ref, created_from, created_to }, requestOptions()),
  )
    .addOption(new Option("--status <status>", "only this status").choices(paymentStatuses))
    .option("--order-ref <text>", "only payments with this reference", parseText)
    .option("--from <time>", "only payments created at or after this time", parseTime)
    .option("--to <time>", "only payments created before this time", parseTime);
  apiCommand(
    group,
    "show <id>",
    {
      summary: "show a payment and its timeline",
      example: "payments show 0199…",
      key: ["operator", "business"],
      helpNote: "Only an operator's key shows calls to the card processor and attempts of old deliveries.",
    },
    show,
  );
  apiCommand(
    group,
    "refresh <id>",
    {
      summary: "update a payment with its state at the card processor, at most once in ten seconds",
      example: "payments refresh 0199…",
      key: ["business"],
      statusCommand,
    },
    ({ amana, requestOptions }, _options, id: string) => amana.payments.refresh(id, requestOptions()),
  );
  apiCommand<ApiOptions & { readonly amount?: string }>(
    group,
    "refund <id>",
    {
      summary: "refund a PAID payment once, in full or in part",
      example: "payments refund 0199… --amount 1250.00",
      key: ["business"],
      statusCommand,
      needsConfirmation: true,
    },
    refund,
  ).option("--amount <amount>", "amount to refund (default: the full payment)", parseAmount);
  apiCommand<StatementOptions>(
    group,
    "statement",
    {
      summary: "print payments, refunds and reversals in the order in which they took effect, with a running total",
      example: "payments statement --from 2026-11-01 --to 2026-12-01 --csv > november.csv",
      key: ["business"],
      helpNote: "With --json, one JSON document on each line.",
    },
    printStatement,
  )
    .requiredOption("--from <time>", "start, inclusive", parseTime)
    .option("--to <time>", "end, exclusive, at most 92 days after the start (default: now)", parseTime)
    .option("--csv", "print CSV");
  listCommand(
    group,
    "changed",
    {
      summary: "list payments (of all businesses) that changed at the card processor without a request from Amana",
      example: "payments changed",
      key: ["operator"],
      columns: changedColumns,
      emptyText: "No changed payments found.",
    },
    ({ amana, requestOptions }, page) => amana.payments.listChanged(page, requestOptions()),
  );
}

const statusCommand = (id = "") => `payments show ${id}`;

async function show(api: Api, options: ApiOptions, id: string): Promise<void> {
  const isOperator = api.keyOwner === "operator";
  const timeline = isOperator
    ? await api.amana.payments.getTimeline(id, api.requestOptions())
    : await timelineForBusiness(api, id);
  if (timeline.missing) process.exitCode = exitCodes.failed;
  if (options.json) return print(jsonText(timeline));
  printFields(timeline.payment);
  print("");
  printTimeline(timeline.entries);
  if (timeline.missing) process.stderr.write("Events and deliveries could not be read and are missing. Try again later.\n");
  if (timeline.truncated?.includes("processor_calls"))
    process.stderr.write("Only the first and the newest calls to the card processor are shown.\n");
  if (timeline.truncated?.includes("events"))
    process.stderr.write(
      "Events or attempts may be missing. To list them, use a business's key with: amana events list, amana events show <id>\n",
    );
}

async function refund(
  { amana, requestOptions }: Api,
  { amount, ...options }: ApiOptions & { amount?: string },
  id: string,
): Promise<Payment> {
  if (!options.yes) {
    const payment = await amana.payments.get(id, requestOptions());
    const refundAmount = `${amount ?? payment.amount} ${payment.currency}`;
    await confirm(
      `Refund ${refundAmount} of payment ${id} (${payment.amount}, ${payment.status})? A payment can be refunded only once.`,
      options,
    );
  }
  return await amana.payments.refund(id, { amount }, requestOptions());
}
