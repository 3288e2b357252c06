import type * as proto from "@amana/contracts/clients/v1/client_pb";
import type { UpdatePersonRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import type { EnumName } from "@amana/contracts/enum-names";
import { assignChanges, type Changes } from "@amana/database";
import { defineEntity, p } from "@mikro-orm/postgresql";

export type KycLevel = EnumName<typeof proto.KycLevel>;
export type RiskLevel = EnumName<typeof proto.RiskLevel>;
export type ClientKycStatus = EnumName<typeof proto.ClientKycStatus>;

const schema = defineEntity({
  name: "Client",
  tableName: "client",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    firstName: p.text(),
    middleName: p.text().nullable(),
    lastName: p.text(),
    /** Day as YYYY-MM-DD. The type is text, because a `Date` depends on a time zone. */
    dateOfBirth: p.text(),
    gender: p.text(),
    birthCountry: p.text(),
    nationality: p.text(),
    countryOfTaxResidence: p.text(),
    address: p.text(),
    city: p.text(),
    postcode: p.text(),
    stateProvince: p.text().nullable(),
    countryCode: p.text(),
    email: p.text(),
    secondEmail: p.text().nullable(),
    mobilePhoneNumber: p.text().nullable(),
    secondMobilePhoneNumber: p.text().nullable(),
    plannedIncome: p.text().nullable(),
    plannedExpenditure: p.text().nullable(),
    externalClientCode: p.text().nullable(),
    kycNote: p.text().nullable(),
    blacklistedComment: p.text().nullable(),
    blocked: p.boolean(),
    isBlacklisted: p.boolean(),
    riskLevel: p.text().$type<RiskLevel>(),
    kycLevel: p.text().$type<KycLevel>(),
    kycStatus: p.text().$type<ClientKycStatus>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/**
 * Changes of a client that a business requests. Identity fields, such as name and date of birth,
 * cannot change.
 */
type ClientChanges = Changes<Client, typeof UpdatePersonRequestSchema>;

/**
 * A natural person who is a client of a business. Callers must lock the row before they change the
 * client or create a resource for it. A concurrent request that blocks the client therefore takes
 * effect either before or after that change.
 */
export class Client extends schema.class {
  /**
   * Changes the fields in `changes`. If all values are equal to the stored values, `updatedAt` does
   * not change.
   */
  change(changes: ClientChanges, now: Date): void {
    if (assignChanges<ClientChanges>(this, changes)) this.updatedAt = now;
  }

  /** Sets the KYC status of the client, which is derived from the newest verification. */
  setKycStatus(kycStatus: ClientKycStatus, now: Date): void {
    if (kycStatus === this.kycStatus) return;
    this.kycStatus = kycStatus;
    this.updatedAt = now;
  }
}
schema.setClass(Client);
