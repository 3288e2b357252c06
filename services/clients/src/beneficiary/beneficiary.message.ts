import { BeneficiarySchema } from "@amana/contracts/clients/v1/beneficiary_pb";
import { ListBeneficiariesRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { defineList, defineView } from "@amana/database";
import { Beneficiary } from "./beneficiary.ts";

export const beneficiaryView = defineView(Beneficiary, BeneficiarySchema);
export const toBeneficiaryMessage = beneficiaryView.toMessage;

export const beneficiaryList = defineList(
  beneficiaryView,
  ListBeneficiariesRequestSchema,
  { search: { contains: "search_text", spaceless: "lower(iban)" } },
  { lookUpIn: "beneficiary_of_tenants" },
);
