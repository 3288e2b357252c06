/**
 * Nouns of the places in requests, by how `trespass` fills them. `nouns.test.ts` compares them with
 * the OpenAPI document.
 */

/** `makeTenant` creates a value of each for a business. */
export const madeNouns = [
  "clients",
  "person",
  "client_id",
  "accounts",
  "beneficiaries",
  "applications",
  "payments",
  "webhook-endpoints",
  "endpoint_id",
  "replay_id",
  "events",
  "businesses",
  "business_id",
  "api-keys",
  "organization_id",
  "external_id",
  "external_account_id",
  "external_client_code",
  "order_ref",
  "search",
  "email",
  "second_email",
] as const;
export type MadeNoun = (typeof madeNouns)[number];

/** No operation creates one yet. */
export const unmadeNouns: ReadonlySet<string> = new Set(["payment_link_id"]);

/** Values that a business chooses. Another business may choose the same. */
export const chosenNouns: ReadonlySet<string> = new Set<MadeNoun>([
  "external_id",
  "external_account_id",
  "external_client_code",
  "email",
  "second_email",
  "order_ref",
]);

/** Values that belong to no business. */
export const commonNouns: ReadonlySet<string> = new Set([
  "applicant_email",
  "contact_email",
  "country_code",
  "swift_code",
  "currency",
  "postal_code",
  "funds_origin_country_id",
]);

/** Fields that an operation requires by a rule between fields, which the document states in words. */
export const alsoNeeded: Readonly<Record<string, object>> = { createBeneficiary: { account_number: "12345678901234567890" } };
