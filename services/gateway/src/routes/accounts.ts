import { AccountJson, accountStatuses, accountTypes, renderAccount } from "@amana/public-api";
import { Type } from "typebox";
import { field, optionalFields } from "../form/field.ts";
import { choice, money, nameText, search, text, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

const account = {
  tag: "Accounts",
  response: AccountJson,
  render: renderAccount,
  rpcNames: { account_type: "type" },
} as const;

/** The clients service configures the accepted currencies, so the schema accepts any code. */
const currency = () => {
  const description = "Currency of the account (ISO 4217). The deployment configures the accepted currencies.";
  return field(Type.String({ format: "iso-4217", pattern: "^[A-Z]{3}$", description, examples: ["DZD"] }), {
    message: "must be a currency code of three capital letters such as DZD (ISO 4217)",
  });
};

const limit = (period: string, rule: string) =>
  money({
    description: `Maximum sum of outgoing amounts in a ${period} (UTC), in the currency of the account. ${rule}`,
    examples: ["5000.00"],
    range: { pattern: "(?=.*[1-9])", message: ", greater than zero" },
  });

const accountName = () => nameText({ description: "Name of the account.", examples: ["Household"] });

const optionalDetails = () => ({
  daily_limit: limit("day", "At most the monthly limit."),
  monthly_limit: limit("month", "At most the yearly limit."),
  yearly_limit: limit("year", "At least the monthly limit."),
  description: text(512, { description: "Free text." }),
  external_account_id: text(255, { description: "Your own identifier of the account; unique in your business." }),
});

const transitions = [
  [
    "activate",
    "Activate an account",
    "Changes a PENDING account to ACTIVE. Fails with 409 when the client is blocked, or is not verified and needs " +
      "verification (`kyc_status` other than VALIDATED).",
  ],
  ["suspend", "Suspend an account", "Changes an ACTIVE account to SUSPENDED. It cannot transact until it is reactivated."],
  ["reactivate", "Reactivate an account", "Changes a SUSPENDED account to ACTIVE, so that it can transact again."],
  [
    "close",
    "Close an account",
    "Changes the account to CLOSED. This is final. Fails with 409 `account_balance_not_zero` while a balance is not zero.",
  ],
] as const;

export async function accounts(app: App, { rpc: { accounts: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...account,
    rpc: rpc.openAccount,
    summary: "Open an account",
    description:
      "Creates an account with zero balances and the status PENDING. Activate it to use it. Fails with 409 " +
      "`client_blocked` for a blocked client.",
    body: {
      client_id: uuid("Client who owns the account."),
      account_type: choice(accountTypes),
      account_name: accountName(),
      currency: currency(),
      ...optionalFields(optionalDetails()),
    },
  });

  addListRoute(app, "", {
    ...account,
    rpc: rpc.listAccounts,
    summary: "List accounts",
    description: "Returns the accounts of your business that match all filters, newest first.",
    filters: {
      client_id: uuid("Client who owns the account."),
      account_type: choice(accountTypes),
      status: choice(accountStatuses),
      currency: currency(),
      search: search({ description: "Part of the account name, account number or external_account_id. Case is ignored." }),
    },
  });

  addReadRoute(app, "/:id", {
    ...account,
    rpc: rpc.getAccount,
    summary: "Get an account",
    description: "Returns an account with its balances, limits and status.",
  });

  addChangeRoute(app, "PATCH", "/:id", {
    ...account,
    rpc: rpc.updateAccount,
    summary: "Update an account",
    description:
      "Changes the fields in the request. Absent fields stay unchanged; null clears an optional field. The daily limit " +
      "must not exceed the monthly limit, and the monthly limit must not exceed the yearly limit. Only `description` and " +
      "`external_account_id` of a CLOSED account can be changed.",
    body: { account_name: accountName(), ...optionalDetails() },
  });

  for (const [verb, summary, description] of transitions) {
    addActionRoute(app, `/:id/${verb}`, { ...account, rpc: rpc[`${verb}Account`], summary, description });
  }
}
