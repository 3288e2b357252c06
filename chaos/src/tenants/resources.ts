/**
 * Resources that requests identify. The groups determine which values `useForeignIdentifiers`
 * sends. A test compares the groups with the OpenAPI document.
 */

/** Kinds of resources. `createTenant` creates a resource of each kind for each business. */
export const createdResources = [
  "clients",
  "person",
  "client_id",
  "accounts",
  "beneficiaries",
  "applications",
  "payments",
  "payment-links",
  "payment_link_id",
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
  "customer_email",
] as const;
export type CreatedResource = (typeof createdResources)[number];

/** Resources whose value a business chooses. Another business may choose the same value. */
export const chosenByBusiness: ReadonlySet<string> = new Set<CreatedResource>([
  "external_id",
  "external_account_id",
  "external_client_code",
  "email",
  "second_email",
  "customer_email",
  "order_ref",
]);

/** Resources that belong to no business. */
export const sharedResources: ReadonlySet<string> = new Set([
  "applicant_email",
  "contact_email",
  "country_code",
  "swift_code",
  "currency",
  "postal_code",
  "funds_origin_country_id",
]);

/**
 * Body fields that rules about several fields require. The OpenAPI document states such rules only
 * as text.
 */
export const extraFields: Readonly<Record<string, object>> = {
  createBeneficiary: { account_number: "12345678901234567890" },
  createPaymentLink: { amount: "5000.00" },
};
