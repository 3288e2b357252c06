import {
  type Beneficiary as BeneficiaryMessage,
  BeneficiarySchema,
  BeneficiaryType,
} from "@amana/contracts/clients/v1/beneficiary_pb";
import { create } from "@bufbuild/protobuf";
import type { Beneficiary } from "./beneficiary.ts";

/** A beneficiary's columns, from the entity or straight from SQL, where times come as text. */
export type BeneficiaryColumns = Omit<Beneficiary, "change" | "version" | "createdAt" | "updatedAt"> & {
  readonly createdAt: Date | string;
  readonly updatedAt: Date | string;
};

export function toBeneficiaryMessage(beneficiary: BeneficiaryColumns): BeneficiaryMessage {
  return create(BeneficiarySchema, {
    id: beneficiary.id,
    businessId: beneficiary.businessId,
    clientId: beneficiary.clientId,
    type: BeneficiaryType[beneficiary.type],
    name: beneficiary.name,
    display: beneficiary.display,
    createdAtMs: BigInt(new Date(beneficiary.createdAt).getTime()),
    updatedAtMs: BigInt(new Date(beneficiary.updatedAt).getTime()),
    accountNumber: beneficiary.accountNumber ?? undefined,
    iban: beneficiary.iban ?? undefined,
    bic: beneficiary.bic ?? undefined,
    swiftCode: beneficiary.swiftCode ?? undefined,
    routingNumber: beneficiary.routingNumber ?? undefined,
    bankName: beneficiary.bankName ?? undefined,
    bankAddress: beneficiary.bankAddress ?? undefined,
    address: beneficiary.address ?? undefined,
    city: beneficiary.city ?? undefined,
    postalCode: beneficiary.postalCode ?? undefined,
    countryCode: beneficiary.countryCode ?? undefined,
  });
}
