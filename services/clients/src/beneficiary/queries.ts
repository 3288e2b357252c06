import { listPage, namedQuery, type Tally } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { BeneficiaryColumns } from "./beneficiary.message.ts";

const columns = `id, business_id as "businessId", client_id as "clientId", type, name, display,
  account_number as "accountNumber", iban, bic, swift_code as "swiftCode", routing_number as "routingNumber",
  bank_name as "bankName", bank_address as "bankAddress", address, city, postal_code as "postalCode",
  country_code as "countryCode", created_at as "createdAt", updated_at as "updatedAt"`;

/** One beneficiary of a business. */
export async function readBeneficiary(
  em: SqlEntityManager,
  businessId: string,
  id: string,
): Promise<BeneficiaryColumns | undefined> {
  const text = `select ${columns} from beneficiary where business_id = $1 and id = $2`;
  const [row] = await namedQuery<BeneficiaryColumns>(em, "beneficiary_read", text, [businessId, id]);
  return row;
}

export const beneficiaryTally: Tally = { table: "beneficiary", dimensions: ["type", "country_code", "display"] };

export interface BeneficiaryFilter {
  readonly clientId: string | undefined;
  readonly type: string | undefined;
  readonly countryCode: string | undefined;
  readonly display: boolean | undefined;
  readonly search: string | undefined;
}

/** A page of a business's beneficiaries, newest first, and how many there are in all. */
export const readBeneficiaries = (
  em: SqlEntityManager,
  businessId: string,
  by: BeneficiaryFilter,
  page: { limit: number; offset: number },
) =>
  listPage<BeneficiaryColumns>(em, {
    table: "beneficiary",
    columns,
    businessId,
    filters: [
      { column: "client_id", is: by.clientId },
      { column: "type", is: by.type },
      { column: "country_code", is: by.countryCode },
      { column: "display", is: by.display },
      { column: "search_text", contains: by.search, spaceless: "lower(iban)" },
    ],
    limit: page.limit,
    offset: page.offset,
    tally: beneficiaryTally,
  });
