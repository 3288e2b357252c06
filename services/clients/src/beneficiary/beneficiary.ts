import type * as proto from "@amana/contracts/clients/v1/beneficiary_pb";
import type { UpdateBeneficiaryRequestSchema } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import type { EnumName } from "@amana/contracts/enum-names";
import { assignChanges, type Changes } from "@amana/database";
import { bankDetailDescriptions, isAccountNumber, isBic, isIban, isRoutingNumber } from "@amana/public-api";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { beneficiaryNeedsIbanOrAccountNumber, paymentDetailInvalid } from "./beneficiary.errors.ts";

export type BeneficiaryType = EnumName<typeof proto.BeneficiaryType>;

const schema = defineEntity({
  name: "Beneficiary",
  tableName: "beneficiary",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    clientId: p.uuid(),
    type: p.text().$type<BeneficiaryType>(),
    name: p.text(),
    display: p.boolean(),
    accountNumber: p.text().nullable(),
    iban: p.text().nullable(),
    bic: p.text().nullable(),
    swiftCode: p.text().nullable(),
    routingNumber: p.text().nullable(),
    bankName: p.text().nullable(),
    bankAddress: p.text().nullable(),
    address: p.text().nullable(),
    city: p.text().nullable(),
    postalCode: p.text().nullable(),
    countryCode: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/**
 * Changes of a beneficiary that a business requests. Null clears a field. A beneficiary's client
 * cannot change.
 */
type BeneficiaryChanges = Changes<Beneficiary, typeof UpdateBeneficiaryRequestSchema>;

type PaymentDetails = Pick<BeneficiaryChanges, "iban" | "accountNumber" | "bic" | "swiftCode" | "routingNumber">;

const rules = [
  ["iban", "iban", isIban],
  ["accountNumber", "account_number", isAccountNumber],
  ["bic", "bic", isBic],
  ["swiftCode", "swift_code", isBic],
  ["routingNumber", "routing_number", isRoutingNumber],
] as const;

/** Throws if neither an IBAN nor an account number is present, or if a detail is malformed. */
export function checkPaymentDetails(details: PaymentDetails): void {
  if (!details.iban && !details.accountNumber) throw beneficiaryNeedsIbanOrAccountNumber();
  for (const [column, field, isValid] of rules) {
    const value = details[column];
    if (value != null && !isValid(value)) throw paymentDetailInvalid(field, bankDetailDescriptions[field]);
  }
}

/** A recipient of a client's payments. A beneficiary can be hidden, but not deleted. */
export class Beneficiary extends schema.class {
  /**
   * Changes the fields in `changes`. If the resulting payment details are invalid, throws and
   * changes nothing.
   */
  change(changes: BeneficiaryChanges, now: Date): void {
    const { iban, accountNumber, bic, swiftCode, routingNumber } = this;
    checkPaymentDetails({ iban, accountNumber, bic, swiftCode, routingNumber, ...changes });
    if (assignChanges<BeneficiaryChanges>(this, changes)) this.updatedAt = now;
  }
}
schema.setClass(Beneficiary);
