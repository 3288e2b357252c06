import { BeneficiarySchema } from "@amana/contracts/clients/v1/beneficiary_pb";
import { ListBeneficiariesRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { defineList, defineView, type Tally } from "@amana/database";
import { Beneficiary } from "./beneficiary.ts";

export const beneficiaryView = defineView(Beneficiary, BeneficiarySchema);
export const toBeneficiaryMessage = beneficiaryView.toMessage;

export const beneficiaryTally: Tally = { table: "beneficiary", dimensions: ["type", "country_code", "display"] };

export const beneficiaryList = defineList(
  beneficiaryView,
  ListBeneficiariesRequestSchema,
  { search: { contains: "search_text", spaceless: "lower(iban)" } },
  beneficiaryTally,
  "beneficiary_of_tenants",
);
