import { ClientKycStatus, type Client as ClientMessage, KycLevel, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { type Static, Type } from "typebox";
import { enumNames, isoTimestamp } from "./render.ts";

export const genders = ["male", "female"] as const;
export const kycLevels = ["FULL_KYC", "DOC_ONLY", "NOT_REQUIRED"] as const;
export const riskLevels = ["Low", "Medium", "High"] as const;
export const clientKycStatuses = [
  "NOT_STARTED",
  "CREATED",
  "PROCESSING",
  "ABORTED",
  "PENDING_REVIEW",
  "VALIDATED",
  "DECLINED",
] as const;

export const clientKycStatusNames = enumNames(ClientKycStatus);
const kycLevelNames = enumNames(KycLevel);
const riskLevelNames = new Map<number, (typeof riskLevels)[number]>([
  [RiskLevel.LOW, "Low"],
  [RiskLevel.MEDIUM, "Medium"],
  [RiskLevel.HIGH, "High"],
]);

/** The number of a public name, "Low" → RISK_LEVEL_LOW. */
export const riskLevelOf = (name: (typeof riskLevels)[number]): RiskLevel =>
  RiskLevel[name.toUpperCase() as Uppercase<typeof name>];

const country = () => Type.String({ description: "ISO 3166-1 alpha-3.", examples: ["DZA"] });
const optionalText = () => Type.Optional(Type.String());

/** A natural person, client of a business. */
export const ClientJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  organization_id: Type.Integer({ description: "Assigned by the platform, one for each business." }),
  first_name: Type.String({ examples: ["Amina"] }),
  middle_name: optionalText(),
  last_name: Type.String({ examples: ["Benali"] }),
  date_of_birth: Type.String({ format: "date", examples: ["1990-05-17"] }),
  gender: Type.Enum([...genders]),
  birth_country: country(),
  nationality: country(),
  country_of_tax_residence: country(),
  address: Type.String(),
  city: Type.String(),
  postcode: Type.String(),
  state_province: optionalText(),
  country_code: country(),
  email: Type.String({ format: "email" }),
  second_email: optionalText(),
  mobile_phone_number: optionalText(),
  second_mobile_phone_number: optionalText(),
  planned_income: optionalText(),
  planned_expenditure: optionalText(),
  external_client_code: Type.Optional(Type.String({ description: "Yours for the client." })),
  blocked: Type.Boolean({ description: "A blocked client gets no new account, beneficiary or KYC application." }),
  is_blacklisted: Type.Boolean({ description: "A mark; it blocks nothing by itself." }),
  blacklisted_comment: optionalText(),
  risk_level: Type.Enum([...riskLevels]),
  kyc_level: Type.Enum([...kycLevels]),
  kyc_status: Type.Enum([...clientKycStatuses], { description: "Follows the client's newest KYC application." }),
  kyc_note: optionalText(),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
});
type ClientJson = Static<typeof ClientJson>;

/** `organizationId`: of the business whose client it is. */
export function renderClient(client: ClientMessage, organizationId: number): ClientJson {
  return {
    id: client.id,
    organization_id: organizationId,
    first_name: client.firstName,
    middle_name: client.middleName,
    last_name: client.lastName,
    date_of_birth: client.dateOfBirth,
    gender: client.gender as ClientJson["gender"],
    birth_country: client.birthCountry,
    nationality: client.nationality,
    country_of_tax_residence: client.countryOfTaxResidence,
    address: client.address,
    city: client.city,
    postcode: client.postcode,
    state_province: client.stateProvince,
    country_code: client.countryCode,
    email: client.email,
    second_email: client.secondEmail,
    mobile_phone_number: client.mobilePhoneNumber,
    second_mobile_phone_number: client.secondMobilePhoneNumber,
    planned_income: client.plannedIncome,
    planned_expenditure: client.plannedExpenditure,
    external_client_code: client.externalClientCode,
    blocked: client.blocked,
    is_blacklisted: client.isBlacklisted,
    blacklisted_comment: client.blacklistedComment,
    risk_level: riskLevelNames.get(client.riskLevel) as ClientJson["risk_level"],
    kyc_level: kycLevelNames.get(client.kycLevel) as ClientJson["kyc_level"],
    kyc_status: clientKycStatusNames.get(client.kycStatus) as ClientJson["kyc_status"],
    kyc_note: client.kycNote,
    created_at: isoTimestamp(client.createdAtMs),
    updated_at: isoTimestamp(client.updatedAtMs),
  };
}
