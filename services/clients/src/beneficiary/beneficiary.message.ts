import { BeneficiarySchema } from "@amana/contracts/clients/v1/beneficiary_pb";
import { defineView } from "@amana/database";
import { Beneficiary } from "./beneficiary.ts";

export const beneficiaryView = defineView(Beneficiary, BeneficiarySchema);
export const toBeneficiaryMessage = beneficiaryView.toMessage;
