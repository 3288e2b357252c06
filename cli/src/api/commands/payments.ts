import type { ListChangedPaymentsItem, Payment } from "@amana/client";
import { paymentStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../ask.ts";
import { type Columns, jsonText, localTime, print, printFields } from "../../print.ts";
import { exitCodes } from "../../refused.ts";
import { amountFrom, apiCommand, timeFrom, wordsFrom } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";
import { printTimeline, timelineForBusiness } from "../timeline.ts";

const columns: Columns<Payment> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  AMOUNT: { of: ({ amount }) => amount, right: true },
  CURRENCY: { of: ({ currency }) => currency, spare: 2 },
  ORDER: { of: ({ order_ref }) => order_ref, min: 6, spare: 3 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 1 },
};

const changedColumns: Columns<ListChangedPaymentsItem> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  AMOUNT: { of: ({ amount }) => amount, right: true },
  REFUNDED: { of: ({ refunded_amount }) => refunded_amount, right: true, spare: 1 },
  ORIGIN: { of: ({ origin }) => origin, spare: 2 },
  BUSINESS: { of: ({ business_id }) => business_id, spare: 3 },
  DIFFERENCE: { of: ({ difference }) => difference, min: 10 },
};

interface Filters extends ListOptions {
  readonly status?: Payment["status"];
  readonly orderRef?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Card payments. */
export function payments(program: Command): void {
  const noun = program.command("payments").description("list, show with their timeline, refresh, refund, changed");
  withListOptions(
    apiCommand<Filters>(
      noun,
      "list",
      {
        says: "a business's payments, newest first",
        example: "payments list --status PAID --from 2026-11-20",
        key: ["business"],
      },
      (api, { status, orderRef, from, to, ...options }) =>
        showList(api, options, { columns, none: "No payments found." }, (page) =>
          api.amana.payments.list(
            {
              ...page,
              ...(status && { status }),
              ...(orderRef && { order_ref: orderRef }),
              ...(from && { created_from: from }),
              ...(to && { created_to: to }),
            },
            api.call(),
          ),
        ),
    ),
  )
    .addOption(new Option("--status <status>").choices(paymentStatuses))
    .option("--order-ref <text>", "the business's own reference", wordsFrom)
    .option("--from <time>", "created then or later", timeFrom)
    .option("--to <time>", "created before", timeFrom);
  apiCommand(
    noun,
    "show <id>",
    {
      says: "one payment and all that happened to it",
      example: "payments show 0199…",
      key: ["operator", "business"],
      more: "Calls of the card processor, and attempts at what happened long ago, are shown to operators alone.",
    },
    async (api, options, id: string) => await show(api, options, id),
  );
  apiCommand(
    noun,
    "refresh <id>",
    {
      says: "asks the card processor about it now, at most once in ten seconds",
      example: "payments refresh 0199…",
      key: ["business"],
      ask,
    },
    async ({ amana, call }, options, id: string) => showOne(await amana.payments.refresh(id, call()), options),
  );
  apiCommand<ApiOptions & { readonly amount?: string }>(
    noun,
    "refund <id>",
    {
      says: "gives back a PAID payment, once, in whole or in part",
      example: "payments refund 0199… --amount 1250.00",
      key: ["business"],
      ask,
      asksFirst: true,
    },
    refund,
  ).option("--amount <amount>", "the whole payment unless given", amountFrom);
  withListOptions(
    apiCommand<ListOptions>(
      noun,
      "changed",
      {
        says: "those of all businesses that changed at the card processor by themselves",
        example: "payments changed",
        key: ["operator"],
      },
      (api, options) =>
        showList(api, options, { columns: changedColumns, none: "None did." }, (page) =>
          api.amana.payments.listChanged(page, api.call()),
        ),
    ),
  );
}

const ask = (id = "") => `payments show ${id}`;

async function show(api: Api, options: ApiOptions, id: string): Promise<void> {
  const isOperator = api.keyOf === "operator";
  const timeline = isOperator ? await api.amana.payments.getTimeline(id, api.call()) : await timelineForBusiness(api, id);
  if (timeline.missing) process.exitCode = exitCodes.refused;
  if (options.json) return print(jsonText(timeline));
  printFields(timeline.payment);
  print("");
  printTimeline(timeline.entries);
  if (timeline.missing)
    process.stderr.write("Events and deliveries could not be read just now: they are missing above. Ask again in a moment.\n");
  if (timeline.truncated?.includes("processor_calls"))
    process.stderr.write("There were more calls of the card processor than the first and the newest, which are above.\n");
  if (timeline.truncated?.includes("events"))
    process.stderr.write(
      "There may be more events or attempts than are above. With a business's key: amana events list, amana deliveries list.\n",
    );
}

async function refund({ amana, call }: Api, { amount, ...options }: ApiOptions & { amount?: string }, id: string): Promise<void> {
  if (!options.yes) {
    const payment = await amana.payments.get(id, call());
    const sum = `${amount ?? payment.amount} ${payment.currency}`;
    await confirm(
      `Give back ${sum} of the payment ${id}, of ${payment.amount}, ${payment.status}? There is only one refund.`,
      options,
    );
  }
  showOne(await amana.payments.refund(id, amount === undefined ? {} : { amount }, call()), options);
}
