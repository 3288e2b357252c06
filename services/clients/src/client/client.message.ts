import {
  ClientKycStatus,
  type Client as ClientMessage,
  ClientSchema,
  KycLevel,
  RiskLevel,
} from "@amana/contracts/clients/v1/client_pb";
import { create } from "@bufbuild/protobuf";
import type { Client } from "./client.ts";

/** A client's columns, from the entity or straight from SQL, where times come as text. */
export type ClientColumns = {
  [K in keyof Client as Client[K] extends (...parameters: never[]) => unknown ? never : K]: Client[K] extends Date
    ? Date | string
    : Client[K];
};

export function toClientMessage(client: Omit<ClientColumns, "version">): ClientMessage {
  return create(ClientSchema, {
    id: client.id,
    businessId: client.businessId,
    firstName: client.firstName,
    middleName: client.middleName ?? undefined,
    lastName: client.lastName,
    dateOfBirth: client.dateOfBirth,
    gender: client.gender,
    birthCountry: client.birthCountry,
    nationality: client.nationality,
    countryOfTaxResidence: client.countryOfTaxResidence,
    address: client.address,
    city: client.city,
    postcode: client.postcode,
    countryCode: client.countryCode,
    email: client.email,
    blocked: client.blocked,
    isBlacklisted: client.isBlacklisted,
    kycLevel: KycLevel[client.kycLevel],
    kycStatus: ClientKycStatus[client.kycStatus],
    riskLevel: RiskLevel[client.riskLevel],
    createdAtMs: BigInt(new Date(client.createdAt).getTime()),
    updatedAtMs: BigInt(new Date(client.updatedAt).getTime()),
    blacklistedComment: client.blacklistedComment ?? undefined,
    externalClientCode: client.externalClientCode ?? undefined,
    kycNote: client.kycNote ?? undefined,
    mobilePhoneNumber: client.mobilePhoneNumber ?? undefined,
    plannedExpenditure: client.plannedExpenditure ?? undefined,
    plannedIncome: client.plannedIncome ?? undefined,
    secondEmail: client.secondEmail ?? undefined,
    secondMobilePhoneNumber: client.secondMobilePhoneNumber ?? undefined,
    stateProvince: client.stateProvince ?? undefined,
  });
}
