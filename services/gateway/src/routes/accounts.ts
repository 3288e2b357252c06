import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { AccountJson, accountStatuses, accountTypes, isMoneyText, renderAccount } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { namedAndCleared } from "../form/cleared.ts";
import { clearable, field } from "../form/field.ts";
import { choice, money, nameText, search, text, uuid } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Accounts"];

const currency = () =>
  field(Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217.", examples: ["DZD"] }), {
    message: "must be a currency's three capitals such as DZD (ISO 4217)",
  });

const limit = (period: string) =>
  field(
    money({ description: `The most that may go out in a ${period} of UTC. At most the next longer one.`, examples: ["5000.00"] }),
    {
      message: 'must be a decimal string above zero such as "5000.00", with at most two decimals',
      accepts: (value: string) => isMoneyText(value) && /[1-9]/.test(value),
    },
  );

const description = () => text(512);
const externalAccountId = () => text(255, { description: "Your own identifier of the account; unique in your business." });

/** A move of an account to another status. */
const moves = [
  ["activate", "Activate a PENDING account", "The client must be verified, or need no verification, and not be blocked."],
  ["suspend", "Suspend an ACTIVE account", "It cannot transact until it is reactivated."],
  ["reactivate", "Reactivate a SUSPENDED account", "It can transact again."],
  ["close", "Close an account", "For good. All balances must be zero."],
] as const;

export const accounts =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "openAccount",
          summary: "Open an account",
          description: "For a client that is not blocked. It is PENDING, with zero balances, until it is activated.",
          body: bodyOf({
            client_id: uuid(),
            account_type: choice(accountTypes),
            account_name: nameText({ examples: ["Household"] }),
            currency: currency(),
            daily_limit: Type.Optional(limit("day")),
            monthly_limit: Type.Optional(limit("month")),
            yearly_limit: Type.Optional(limit("year")),
            description: Type.Optional(description()),
            external_account_id: Type.Optional(externalAccountId()),
          }),
          response: { 201: AccountJson },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const account = await rpc.accounts.openAccount(
          {
            clientId: body.client_id,
            type: AccountType[body.account_type],
            accountName: body.account_name,
            currency: body.currency,
            dailyLimit: body.daily_limit,
            monthlyLimit: body.monthly_limit,
            yearlyLimit: body.yearly_limit,
            description: body.description,
            externalAccountId: body.external_account_id,
          },
          callOf(request, reply),
        );
        reply.code(201).header("location", `/api/v1/accounts/${account.id}`);
        return renderAccount(account);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listAccounts",
          summary: "List accounts, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            client_id: Type.Optional(uuid()),
            account_type: Type.Optional(choice(accountTypes)),
            status: Type.Optional(choice(accountStatuses)),
            currency: Type.Optional(currency()),
            search: Type.Optional(search({ description: "Any part of name, account number or external id, in any case." })),
          }),
          response: { 200: Type.Array(AccountJson) },
        },
      },
      async (request, reply) => {
        const { query } = request;
        const page = await rpc.accounts.listAccounts(
          {
            limit: query.limit,
            offset: query.offset,
            clientId: query.client_id,
            type: query.account_type && AccountType[query.account_type],
            status: query.status && AccountStatus[query.status],
            currency: query.currency,
            search: query.search,
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, { ...page, shown: page.accounts.length });
        return page.accounts.map(renderAccount);
      },
    );

    app.get(
      "/:id",
      {
        schema: { tags, operationId: "getAccount", summary: "Read an account", params: PathId, response: { 200: AccountJson } },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderAccount(await rpc.accounts.getAccount({ id }, callOf(request, reply)));
      },
    );

    app.patch(
      "/:id",
      {
        schema: {
          tags,
          operationId: "updateAccount",
          summary: "Change an account",
          description:
            "A field that is left out stays; null clears an optional one. The limits must not fall from day to year. Of a CLOSED account only description and external_account_id can still change.",
          params: PathId,
          body: bodyOf(
            {
              account_name: Type.Optional(nameText({ examples: ["Household"] })),
              description: Type.Optional(clearable(description())),
              external_account_id: Type.Optional(clearable(externalAccountId())),
              daily_limit: Type.Optional(clearable(limit("day"))),
              monthly_limit: Type.Optional(clearable(limit("month"))),
              yearly_limit: Type.Optional(clearable(limit("year"))),
            },
            {
              immutable: [
                "id",
                "client_id",
                "account_number",
                "account_type",
                "currency",
                "current_balance",
                "available_balance",
                "reserved_balance",
                "status",
                "opened_date",
                "closed_date",
                "last_activity_date",
                "created_at",
                "updated_at",
              ],
            },
          ),
          response: { 200: AccountJson },
        },
      },
      async (request, reply) => {
        const { named, cleared } = namedAndCleared(request.body);
        const account = await rpc.accounts.updateAccount(
          {
            id: pathId(request.params),
            accountName: named.account_name,
            description: named.description,
            externalAccountId: named.external_account_id,
            dailyLimit: named.daily_limit,
            monthlyLimit: named.monthly_limit,
            yearlyLimit: named.yearly_limit,
            cleared,
          },
          callOf(request, reply),
        );
        return renderAccount(account);
      },
    );

    for (const [verb, summary, description] of moves) {
      app.post(
        `/:id/${verb}`,
        {
          schema: {
            tags,
            operationId: `${verb}Account`,
            summary,
            description,
            params: PathId,
            body: bodyOf({}, { optional: true }),
            response: { 200: AccountJson },
          },
        },
        async (request, reply) => {
          const id = pathId(request.params);
          return renderAccount(await rpc.accounts[`${verb}Account`]({ id }, callOf(request, reply)));
        },
      );
    }
  };
