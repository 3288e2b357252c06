import { listPage, namedQuery, type Tally } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { ClientColumns } from "./client.message.ts";

export type ClientRow = Omit<ClientColumns, "version">;

const columns = `id, business_id as "businessId", first_name as "firstName", middle_name as "middleName",
  last_name as "lastName", date_of_birth as "dateOfBirth", gender, birth_country as "birthCountry", nationality,
  country_of_tax_residence as "countryOfTaxResidence", address, city, postcode, state_province as "stateProvince",
  country_code as "countryCode", email, second_email as "secondEmail", mobile_phone_number as "mobilePhoneNumber",
  second_mobile_phone_number as "secondMobilePhoneNumber", planned_income as "plannedIncome",
  planned_expenditure as "plannedExpenditure", external_client_code as "externalClientCode", kyc_note as "kycNote",
  blacklisted_comment as "blacklistedComment", blocked, is_blacklisted as "isBlacklisted", risk_level as "riskLevel",
  kyc_level as "kycLevel", kyc_status as "kycStatus", created_at as "createdAt", updated_at as "updatedAt"`;

/** One client of a business. */
export async function readClient(em: SqlEntityManager, businessId: string, id: string): Promise<ClientRow | undefined> {
  const text = `select ${columns} from client where business_id = $1 and id = $2`;
  const [row] = await namedQuery<ClientRow>(em, "client_read", text, [businessId, id]);
  return row;
}

/** Of all filters but those that find one client or a handful. */
export const clientTally: Tally = { table: "client", dimensions: ["kyc_status", "risk_level", "is_blacklisted", "blocked"] };

export interface ClientFilter {
  readonly kycStatus: string | undefined;
  readonly riskLevel: string | undefined;
  readonly isBlacklisted: boolean | undefined;
  readonly blocked: boolean | undefined;
  readonly search: string | undefined;
  readonly email: string | undefined;
  readonly externalClientCode: string | undefined;
}

/** A page of a business's clients, newest first, and how many there are in all. */
export const readClients = (
  em: SqlEntityManager,
  businessId: string,
  by: ClientFilter,
  page: { limit: number; offset: number },
) =>
  listPage<ClientRow>(em, {
    table: "client",
    columns,
    businessId,
    filters: [
      { column: "kyc_status", is: by.kycStatus },
      { column: "risk_level", is: by.riskLevel },
      { column: "is_blacklisted", is: by.isBlacklisted },
      { column: "blocked", is: by.blocked },
      { column: "search_text", contains: by.search },
      { sql: "lower(email) = lower(?)", value: by.email },
      { column: "external_client_code", is: by.externalClientCode },
    ],
    limit: page.limit,
    offset: page.offset,
    tally: clientTally,
  });
