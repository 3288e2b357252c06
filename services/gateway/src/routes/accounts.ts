import { AccountJson, accountStatuses, accountTypes, renderAccount } from "@amana/public-api";
import { Type } from "typebox";
import { field, omittable } from "../form/field.ts";
import { choice, money, nameText, search, text, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, change, create, list, read } from "../operations.ts";

const account = { tags: ["Accounts"], answer: AccountJson, render: renderAccount, rpcNames: { account_type: "type" } };

/** Which ones accounts are held in is a setting of the service: a pattern cannot say it. */
const currency = () => {
  const description = "ISO 4217, of those that accounts are held in.";
  return field(Type.String({ format: "iso-4217", pattern: "^[A-Z]{3}$", description, examples: ["DZD"] }), {
    message: "must be a currency's three capitals such as DZD (ISO 4217)",
  });
};

const limit = (period: string) =>
  money({
    description: `The most that may go out in a ${period} of UTC. At most the next longer one.`,
    examples: ["5000.00"],
    range: { pattern: "(?=.*[1-9])", message: ", above zero" },
  });

const accountName = () => nameText({ examples: ["Household"] });

/** Fields without which an account can be. */
const optional = () => ({
  daily_limit: limit("day"),
  monthly_limit: limit("month"),
  yearly_limit: limit("year"),
  description: text(512),
  external_account_id: text(255, { description: "Your own identifier of the account; unique in your business." }),
});

/** A move of an account to another status. */
const moves = [
  ["activate", "Activate a PENDING account", "The client must be verified, or need no verification, and not be blocked."],
  ["suspend", "Suspend an ACTIVE account", "It cannot transact until it is reactivated."],
  ["reactivate", "Reactivate a SUSPENDED account", "It can transact again."],
  ["close", "Close an account", "For good. All balances must be zero."],
] as const;

export async function accounts(app: App, { rpc: { accounts: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...account,
    rpc: rpc.openAccount,
    summary: "Open an account",
    description: "For a client that is not blocked. It is PENDING, with zero balances, until it is activated.",
    body: {
      client_id: uuid(),
      account_type: choice(accountTypes),
      account_name: accountName(),
      currency: currency(),
      ...omittable(optional()),
    },
  });

  list(app, "", {
    ...account,
    rpc: rpc.listAccounts,
    summary: "List accounts, newest first",
    filters: {
      client_id: uuid(),
      account_type: choice(accountTypes),
      status: choice(accountStatuses),
      currency: currency(),
      search: search({ description: "Any part of name, account number or external id, in any case." }),
    },
  });

  read(app, "/:id", { ...account, rpc: rpc.getAccount, summary: "Read an account" });

  change(app, "PATCH", "/:id", {
    ...account,
    rpc: rpc.updateAccount,
    summary: "Change an account",
    description:
      "A field that is left out stays; null clears an optional one. The limits must not fall from day to year. Of a CLOSED account only description and external_account_id can still change.",
    body: { account_name: accountName(), ...optional() },
  });

  for (const [verb, summary, description] of moves) {
    act(app, `/:id/${verb}`, { ...account, rpc: rpc[`${verb}Account`], summary, description });
  }
}
