import { listPage, namedQuery, type Tally } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { AccountColumns } from "./account.message.ts";

const columns = `id, business_id as "businessId", client_id as "clientId", account_name as "accountName",
  account_number as "accountNumber", type, currency, current_balance_minor as "currentBalanceMinor",
  available_balance_minor as "availableBalanceMinor", reserved_balance_minor as "reservedBalanceMinor", status,
  daily_limit_minor as "dailyLimitMinor", monthly_limit_minor as "monthlyLimitMinor", yearly_limit_minor as "yearlyLimitMinor",
  description, external_account_id as "externalAccountId", closed_at as "closedAt", last_activity_at as "lastActivityAt",
  created_at as "createdAt", updated_at as "updatedAt"`;

/** One account of a business. */
export async function readAccount(em: SqlEntityManager, businessId: string, id: string): Promise<AccountColumns | undefined> {
  const text = `select ${columns} from account where business_id = $1 and id = $2`;
  const [row] = await namedQuery<AccountColumns>(em, "account_read", text, [businessId, id]);
  return row;
}

export const accountTally: Tally = { table: "account", dimensions: ["type", "status", "currency"] };

export interface AccountFilter {
  readonly clientId: string | undefined;
  readonly type: string | undefined;
  readonly status: string | undefined;
  readonly currency: string | undefined;
  readonly search: string | undefined;
}

/** A page of a business's accounts, newest first, and how many there are in all. */
export const readAccounts = (
  em: SqlEntityManager,
  businessId: string,
  by: AccountFilter,
  page: { limit: number; offset: number },
) =>
  listPage<AccountColumns>(em, {
    table: "account",
    columns,
    businessId,
    filters: [
      { column: "client_id", is: by.clientId },
      { column: "type", is: by.type },
      { column: "status", is: by.status },
      { column: "currency", is: by.currency },
      { column: "search_text", contains: by.search, spaceless: "account_number" },
    ],
    limit: page.limit,
    offset: page.offset,
    tally: accountTally,
  });
