import { type Beneficiary, BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { type Static, Type } from "typebox";
import { enumNames, isoTimestamp } from "./render.ts";

export const beneficiaryTypes = ["PERSON", "COMPANY"] as const;

const beneficiaryTypeNames = enumNames(BeneficiaryType);

const optionalText = (...examples: string[]) => Type.Optional(Type.String({ examples }));

export const BeneficiaryJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  beneficiary_type: Type.Enum([...beneficiaryTypes]),
  name: Type.String({ examples: ["Amina Benali"] }),
  display: Type.Boolean({ description: "Whether it is shown to users." }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
  account_number: optionalText("00799999002345678941"),
  iban: optionalText("DZ580002100001113000000570"),
  bic: optionalText("BEXADZAL"),
  swift_code: optionalText("BEXADZAL"),
  routing_number: optionalText("021000021"),
  bank_name: optionalText(),
  bank_address: optionalText(),
  address: optionalText(),
  city: optionalText(),
  postal_code: optionalText(),
  country_code: optionalText("DZA"),
});
type BeneficiaryJson = Static<typeof BeneficiaryJson>;

/** A beneficiary as the public API shows it. Fields without a value are left out, never null. */
export function renderBeneficiary(beneficiary: Beneficiary): BeneficiaryJson {
  return {
    id: beneficiary.id,
    client_id: beneficiary.clientId,
    beneficiary_type: beneficiaryTypeNames.get(beneficiary.type) as BeneficiaryJson["beneficiary_type"],
    name: beneficiary.name,
    display: beneficiary.display,
    created_at: isoTimestamp(beneficiary.createdAtMs),
    updated_at: isoTimestamp(beneficiary.updatedAtMs),
    account_number: beneficiary.accountNumber,
    iban: beneficiary.iban,
    bic: beneficiary.bic,
    swift_code: beneficiary.swiftCode,
    routing_number: beneficiary.routingNumber,
    bank_name: beneficiary.bankName,
    bank_address: beneficiary.bankAddress,
    address: beneficiary.address,
    city: beneficiary.city,
    postal_code: beneficiary.postalCode,
    country_code: beneficiary.countryCode,
  };
}
