import { expect } from "vitest";
import { someDetails } from "../../src/demo/a-person.ts";
import type { ApiCaller } from "../../src/demo/api.ts";
import { eventually } from "../../src/eventually.ts";

interface Caller {
  readonly call: ApiCaller;
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

export async function saveDetails({ call }: Caller, clientId: string): Promise<void> {
  const saved = await call("POST", `/api/v1/clients/${clientId}/onboarding/details`, someDetails);
  if (saved.status !== 201) throw new Error(`saving the details answered ${saved.status}: ${saved.text}`);
}

/** The onboarding's place and the client's own kyc_status, as the public API shows them. */
export async function placeOf({ call }: Caller, clientId: string) {
  const [{ body: status }, { body: client }] = await Promise.all([
    call("GET", `/api/v1/clients/${clientId}/onboarding/status`),
    call("GET", `/api/v1/clients/${clientId}`),
  ]);
  return {
    place: [status["current_step"], status["kyc_status"], status["overall_status"]],
    client: client["kyc_status"],
    application: status["kyc_application_id"],
    link: status["kyc_link"],
  };
}

/**
 * Waits until a client's onboarding is there; `shown` is the application that it names, with a link
 * while that lives.
 */
export const expectPlace = (business: Caller, clientId: string, place: Place, shown?: { id: string; link?: string }) =>
  eventually(async () => {
    expect(await placeOf(business, clientId)).toEqual({ place, client: place[1], application: shown?.id, link: shown?.link });
  });
