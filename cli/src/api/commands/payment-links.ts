import type { CreatePaymentLinkBody, ListPaymentLinksQuery, PaymentLink } from "@amana/client";
import { paymentLinkStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { parseAmount, parseText, parseTime, wholeNumberParser } from "../../parsers.ts";
import type { Columns } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<PaymentLink> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  AMOUNT: { cellOf: ({ amount, amount_min, amount_max }) => amount ?? `${amount_min} to ${amount_max}`, alignRight: true },
  PAID: { cellOf: ({ payments_paid }) => String(payments_paid), alignRight: true },
  TOTAL: { cellOf: ({ amount_paid }) => amount_paid, alignRight: true, omitOrder: 1 },
  NAME: { cellOf: ({ name }) => name, minWidth: 10, omitOrder: 3 },
  URL: { cellOf: ({ url }) => url, omitOrder: 2 },
};

interface CreateOptions extends ApiOptions, Pick<CreatePaymentLinkBody, "name" | "amount" | "language"> {
  readonly min?: string;
  readonly max?: string;
  readonly orderRef?: string;
  readonly maxPayments?: number;
  readonly expiresAt?: string;
}

export function paymentLinks(program: Command): void {
  const group = program.command("payment-links").description("create, list, show or deactivate payment links");
  apiCommand<CreateOptions>(
    group,
    "create",
    {
      summary: "create a page on which buyers pay",
      example: "payment-links create --name 'Arabic lesson' --amount 2500.00 --max-payments 12",
      key: ["business"],
      statusCommand: () => "payment-links list",
      helpNote: "A link needs --amount, or --min and --max.",
    },
    ({ amana, requestOptions }, { name, amount, min, max, language, orderRef, maxPayments, expiresAt }) => {
      const price = { amount, amount_min: min, amount_max: max };
      const body = { name, ...price, language, order_ref: orderRef, max_payments: maxPayments, expires_at: expiresAt };
      return amana.paymentLinks.create(body, requestOptions());
    },
  )
    .requiredOption("--name <text>", "item or service that is sold", parseText)
    .option("--amount <amount>", "fixed price", parseAmount)
    .option("--min <amount>", "lowest amount that the buyer can enter", parseAmount)
    .option("--max <amount>", "highest amount that the buyer can enter", parseAmount)
    .addOption(new Option("--language <language>", "first language of the page (default: FR)").choices(["AR", "FR", "EN"]))
    .option("--order-ref <text>", "your reference, copied to each payment", parseText)
    .option("--max-payments <number>", "number of payments after which the link is COMPLETED", wholeNumberParser(1, 1_000_000))
    .option("--expires-at <time>", "time at which the link expires", parseTime);
  listCommand<PaymentLink, Pick<ListPaymentLinksQuery, "status" | "search">>(
    group,
    "list",
    {
      summary: "list payment links, newest first",
      example: "payment-links list --status ACTIVE",
      key: ["business"],
      columns,
      emptyText: "No payment links found.",
    },
    ({ amana, requestOptions }, page, { status, search }) =>
      amana.paymentLinks.list({ ...page, status, search }, requestOptions()),
  )
    .addOption(new Option("--status <status>", "only this status").choices(paymentLinkStatuses))
    .option("--search <text>", "only links whose name or reference contains this text", parseText);
  apiCommand(
    group,
    "show <id>",
    { summary: "show a payment link with its totals", example: "payment-links show 0199…", key: ["business"] },
    ({ amana, requestOptions }, _options, id: string) => amana.paymentLinks.get(id, requestOptions()),
  );
  apiCommand(
    group,
    "deactivate <id>",
    {
      summary: "make a payment link unavailable to buyers at once",
      example: "payment-links deactivate 0199…",
      key: ["business"],
      statusCommand: (id = "") => `payment-links show ${id}`,
      isWithoutIdempotencyKey: true,
    },
    ({ amana, requestOptions }, _options, id: string) => amana.paymentLinks.update(id, { status: "INACTIVE" }, requestOptions()),
  );
}
