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
    /** ISO 3166-1 numeric. */
    fundsOriginCountryId: p.integer().nullable(),
    taxIdentificationNumber: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const required = {
  account_purposes: "accountPurposes",
  expected_monthly_incoming_volume: "expectedMonthlyIncomingVolume",
  expected_monthly_outgoing_volume: "expectedMonthlyOutgoingVolume",
  is_us_person: "isUsPerson",
  occupation: "occupation",
  occupation_sector: "occupationSector",
  source_of_funds: "sourceOfFunds",
} as const;

type Required = (typeof required)[keyof typeof required];

/** What a client may answer; null for an answer that is taken back. */
export type Answers = Changes<OnboardingDetails, typeof OnboardingAnswersSchema>;
type CompleteAnswers = Answers & Pick<OnboardingDetails, Required>;

/** What a client told about its means and intentions: complete at any time. */
export class OnboardingDetails extends schema.class {
  /** Takes over the named answers. A change that changes nothing leaves no trace. */
  change(answers: Answers, now: Date): void {
    refuseIncomplete({ ...this, ...answers });
    if (assignChanges<Answers>(this, answers)) this.updatedAt = now;
  }
}
schema.setClass(OnboardingDetails);

/** Refuses answers among which something is missing, and names all that is. */
export function refuseIncomplete(answers: Answers): asserts answers is CompleteAnswers {
  const missing: string[] = Object.entries(required).flatMap(([name, property]) =>
    answers[property] === undefined ? [name] : [],
  );
  if (answers.occupation === "OTHER" && answers.otherOccupation == null) missing.push("other_occupation");
  if (answers.sourceOfFunds === "OTHER" && answers.otherSourceOfFunds == null) missing.push("other_source_of_funds");
  if (missing.length > 0) throw onboardingDetailsIncomplete(missing);
}
