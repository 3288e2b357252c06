import type { Amana } from "@amana/client";
import { someDetails } from "@amana/dev-env/demo/a-person";
import { eventually } from "@amana/dev-env/eventually";
import { expect } from "vitest";

interface Caller {
  readonly amana: Amana;
}

export const someAccount = { account_type: "CURRENT", account_name: "Household", currency: "DZD" };
export const someBeneficiary = { name: "Karim Haddad", account_number: "00799999002345678941" };

/** current_step, kyc_status and overall_status of an onboarding. */
export type Place = readonly [step: string, kycStatus: string, overall: string];

export const places = {
  registered: ["DETAILS_PENDING", "NOT_STARTED", "IN_PROGRESS"],
  detailed: ["KYC_PENDING", "NOT_STARTED", "IN_PROGRESS"],
  created: ["KYC_PENDING", "CREATED", "IN_PROGRESS"],
  processing: ["KYC_PROCESSING", "PROCESSING", "IN_PROGRESS"],
  underReview: ["KYC_UNDER_REVIEW", "PENDING_REVIEW", "UNDER_REVIEW"],
  verified: ["PENDING_APPROVAL", "VALIDATED", "IN_PROGRESS"],
  declined: ["KYC_DECLINED", "DECLINED", "DECLINED"],
  aborted: ["KYC_PENDING", "ABORTED", "IN_PROGRESS"],
  approved: ["APPROVED", "VALIDATED", "APPROVED"],
} as const satisfies Record<string, Place>;

export async function saveDetails({ amana }: Caller, clientId: string): Promise<void> {
  await amana.onboarding.createDetails(clientId, someDetails);
}

/**
 * Returns the status fields of an onboarding and the client's own kyc_status, from the public API.
 */
export async function placeOf({ amana }: Caller, clientId: string) {
  const [status, client] = await Promise.all([amana.onboarding.getStatus(clientId), amana.clients.get(clientId)]);
  return {
    place: [status.current_step, status.kyc_status, status.overall_status],
    client: client.kyc_status,
    application: status.kyc_application_id,
    link: status.kyc_link,
  };
}

/**
 * Waits until the onboarding of a client has these statuses. `shown` is its application, with a
 * link while that is open.
 */
export const expectPlace = (business: Caller, clientId: string, place: Place, shown?: { id: string; link?: string }) =>
  eventually(async () => {
    expect(await placeOf(business, clientId)).toEqual({ place, client: place[1], application: shown?.id, link: shown?.link });
  });
