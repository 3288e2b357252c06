import type { Amana } from "@amana/client";
import { someDetails } from "@amana/dev-env/demo/a-person";
import { eventually } from "@amana/dev-env/eventually";
import { expect } from "vitest";

interface Caller {
  readonly amana: Amana;
}

export const someAccount = { account_type: "CURRENT", account_name: "Household", currency: "DZD" };
export const someBeneficiary = { name: "Karim Haddad", account_number: "00799999002345678941" };

/** The current_step, kyc_status and overall_status of an onboarding. */
export type OnboardingStatuses = readonly [step: string, kycStatus: string, overall: string];

export const onboardingStatuses = {
  registered: ["DETAILS_PENDING", "NOT_STARTED", "IN_PROGRESS"],
  detailed: ["KYC_PENDING", "NOT_STARTED", "IN_PROGRESS"],
  created: ["KYC_PENDING", "CREATED", "IN_PROGRESS"],
  processing: ["KYC_PROCESSING", "PROCESSING", "IN_PROGRESS"],
  underReview: ["KYC_UNDER_REVIEW", "PENDING_REVIEW", "UNDER_REVIEW"],
  verified: ["PENDING_APPROVAL", "VALIDATED", "IN_PROGRESS"],
  declined: ["KYC_DECLINED", "DECLINED", "DECLINED"],
  aborted: ["KYC_PENDING", "ABORTED", "IN_PROGRESS"],
  approved: ["APPROVED", "VALIDATED", "APPROVED"],
} as const satisfies Record<string, OnboardingStatuses>;

export async function saveDetails({ amana }: Caller, clientId: string): Promise<void> {
  await amana.onboarding.createDetails(clientId, someDetails);
}

/**
 * Reads an onboarding and its client with the public API. Returns the onboarding's status fields
 * and the client's kyc_status.
 */
export async function readOnboarding({ amana }: Caller, clientId: string) {
  const [status, client] = await Promise.all([amana.onboarding.getStatus(clientId), amana.clients.get(clientId)]);
  return {
    statuses: [status.current_step, status.kyc_status, status.overall_status],
    client: client.kyc_status,
    application: status.kyc_application_id,
    link: status.kyc_link,
  };
}

/**
 * Waits until the onboarding of a client has these statuses, this application and this link.
 */
export const expectOnboarding = (
  business: Caller,
  clientId: string,
  statuses: OnboardingStatuses,
  application?: { id: string; link?: string },
) =>
  eventually(async () => {
    expect(await readOnboarding(business, clientId)).toEqual({
      statuses,
      client: statuses[1],
      application: application?.id,
      link: application?.link,
    });
  });
