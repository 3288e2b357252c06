import type { OnboardingAnswersSchema } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { assignChanges, type Changes } from "@amana/database";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { onboardingDetailsIncomplete } from "./onboarding.errors.ts";

const schema = defineEntity({
  name: "OnboardingDetails",
  tableName: "onboarding_details",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    clientId: p.uuid(),
    accountPurposes: p.array(),
    expectedMonthlyIncomingVolume: p.text(),
    expectedMonthlyOutgoingVolume: p.text(),
    isUsPerson: p.boolean(),
    occupation: p.text(),
    otherOccupation: p.text().nullable(),
    occupationSector: p.text(),
    sourceOfFunds: p.text(),
    otherSourceOfFunds: p.text().nullable(),
    /** Numeric country code (ISO 3166-1). */
    fundsOriginCountryId: p.integer().nullable(),
    taxIdentificationNumber: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const requiredFields = {
  account_purposes: "accountPurposes",
  expected_monthly_incoming_volume: "expectedMonthlyIncomingVolume",
  expected_monthly_outgoing_volume: "expectedMonthlyOutgoingVolume",
  is_us_person: "isUsPerson",
  occupation: "occupation",
  occupation_sector: "occupationSector",
  source_of_funds: "sourceOfFunds",
} as const;

type RequiredProperty = (typeof requiredFields)[keyof typeof requiredFields];

/** Onboarding details in a request. Null clears a field. */
export type Answers = Changes<OnboardingDetails, typeof OnboardingAnswersSchema>;
type CompleteAnswers = Answers & Pick<OnboardingDetails, RequiredProperty>;

/**
 * A client's statements about income and the purpose of the accounts. A stored row always contains
 * all required fields.
 */
export class OnboardingDetails extends schema.class {
  /**
   * Changes the fields in `answers`. If all values are equal to the stored values, `updatedAt` does
   * not change. Throws if a required field would be missing.
   */
  change(answers: Answers, now: Date): void {
    requireComplete({ ...this, ...answers });
    if (assignChanges<Answers>(this, answers)) this.updatedAt = now;
  }
}
schema.setClass(OnboardingDetails);

/** Throws `onboarding_details_incomplete` with the names of all missing fields. */
export function requireComplete(answers: Answers): asserts answers is CompleteAnswers {
  const missingFields: string[] = Object.entries(requiredFields).flatMap(([name, property]) =>
    answers[property] === undefined ? [name] : [],
  );
  if (answers.occupation === "OTHER" && answers.otherOccupation == null) missingFields.push("other_occupation");
  if (answers.sourceOfFunds === "OTHER" && answers.otherSourceOfFunds == null) missingFields.push("other_source_of_funds");
  if (missingFields.length > 0) throw onboardingDetailsIncomplete(missingFields);
}
