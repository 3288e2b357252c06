import { ListBeneficiariesRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { defineList, type Tally } from "@amana/database";
import { beneficiaryView } from "./beneficiary.message.ts";

export const beneficiaryTally: Tally = { table: "beneficiary", dimensions: ["type", "country_code", "display"] };

export const beneficiaryList = defineList(
  beneficiaryView,
  ListBeneficiariesRequestSchema,
  { search: { contains: "search_text", spaceless: "lower(iban)" } },
  beneficiaryTally,
);
