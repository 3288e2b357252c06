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
    /** YYYY-MM-DD, and never anything else: a Date would bring a time zone with it. */
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

/** What a business may change of its clients. Who somebody is cannot be changed. */
type ClientChanges = Changes<Client, typeof UpdatePersonRequestSchema>;

/**
 * A natural person, client of a business. Whoever changes one, or opens something new for one,
 * locks its row first: a client is blocked before or after that, never meanwhile.
 */
export class Client extends schema.class {
  /** Takes over the named fields. A change that changes nothing leaves no trace. */
  change(changes: ClientChanges, now: Date): void {
    if (assignChanges<ClientChanges>(this, changes)) this.updatedAt = now;
  }

  /** The newest verification says so. */
  verificationIs(kycStatus: ClientKycStatus, now: Date): void {
    if (kycStatus === this.kycStatus) return;
    this.kycStatus = kycStatus;
    this.updatedAt = now;
  }
}
schema.setClass(Client);
