import { BeneficiarySchema, BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { enumNames } from "@amana/contracts/enum-names";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

export const beneficiaryTypes = enumNames(BeneficiaryType);

const optionalText = (...examples: string[]) => Type.Optional(Type.String({ examples }));

export const BeneficiaryJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  beneficiary_type: Type.Enum(beneficiaryTypes),
  name: Type.String({ examples: ["Amina Benali"] }),
  display: Type.Boolean({ description: "Whether the beneficiary is shown to users." }),
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

/** Renders a beneficiary as public JSON. */
export const renderBeneficiary = createRenderer(BeneficiarySchema, BeneficiaryJson, { beneficiary_type: "type" });
