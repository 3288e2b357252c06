import { uuidv7 } from "@amana/runtime";
import { defineEntity, p } from "@mikro-orm/postgresql";

/** Columns that each of these entities has. */
const common = {
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidv7()),
  businessId: p.uuid(),
  createdAt: p.datetime(3).onCreate(() => new Date()),
  updatedAt: p
    .datetime(3)
    .onCreate(() => new Date())
    .onUpdate(() => new Date()),
  version: p.integer().version(),
};

const text = () => p.text();
const nullableText = () => p.text().nullable();
const columns = <N extends string, C>(create: () => C, names: N[]) =>
  Object.fromEntries(names.map((name) => [name, create()])) as Record<N, C>;
const texts = <N extends string>(...names: N[]) => columns(text, names);
const nullableTexts = <N extends string>(...names: N[]) => columns(nullableText, names);

const ClientSchema = defineEntity({
  name: "Client",
  tableName: "client",
  properties: {
    ...common,
    ...texts("firstName", "lastName", "dateOfBirth", "gender", "birthCountry", "nationality", "countryOfTaxResidence"),
    ...texts("address", "city", "postcode", "countryCode", "email", "riskLevel", "kycLevel", "kycStatus"),
    ...nullableTexts("middleName", "stateProvince", "secondEmail", "mobilePhoneNumber", "secondMobilePhoneNumber"),
    ...nullableTexts("plannedIncome", "plannedExpenditure", "externalClientCode", "kycNote", "blacklistedComment"),
    blocked: p.boolean(),
    isBlacklisted: p.boolean(),
  },
});
export class Client extends ClientSchema.class {}
ClientSchema.setClass(Client);

const BeneficiarySchema = defineEntity({
  name: "Beneficiary",
  tableName: "beneficiary",
  properties: {
    ...common,
    client: () => p.manyToOne(Client),
    ...texts("type", "name"),
    display: p.boolean(),
    ...nullableTexts("accountNumber", "iban", "bic", "swiftCode", "routingNumber", "bankName", "bankAddress", "address"),
    ...nullableTexts("city", "postalCode", "countryCode"),
  },
});
export class Beneficiary extends BeneficiarySchema.class {}
BeneficiarySchema.setClass(Beneficiary);

const PaymentSchema = defineEntity({
  name: "Payment",
  tableName: "payment",
  properties: {
    ...common,
    amountMinor: p.bigint("bigint"),
    ...texts("currency", "status", "language", "successUrl", "failUrl", "returnToken", "processorOrderNumber"),
    ...nullableTexts("description", "orderRef", "processorOrderId", "formUrl", "processorErrorCode", "actionCode"),
    ...nullableTexts("actionCodeDescription", "respCode", "respCodeDesc", "approvalCode", "maskedPan", "cardBrand", "origin"),
    processorOrderStatus: p.integer().nullable(),
    refundedAmountMinor: p.bigint("bigint").nullable(),
    paidAt: p.datetime(3).nullable(),
    refundedAt: p.datetime(3).nullable(),
    refundEndedAt: p.datetime(3).nullable(),
  },
});
export class Payment extends PaymentSchema.class {}
PaymentSchema.setClass(Payment);

const RefundSchema = defineEntity({
  name: "Refund",
  tableName: "refund",
  properties: {
    ...common,
    payment: () => p.manyToOne(Payment),
    amountMinor: p.bigint("bigint"),
    status: p.text(),
    refundedBeforeMinor: p.bigint("bigint").nullable(),
    sends: p.integer(),
    lastSentAt: p.datetime(3).nullable(),
    decisionDueAt: p.datetime(3),
    checks: p.integer(),
  },
});
export class Refund extends RefundSchema.class {}
RefundSchema.setClass(Refund);

const OutboxMessageSchema = defineEntity({
  name: "OutboxMessage",
  tableName: "outbox",
  properties: {
    id: p.bigint("bigint").primary(),
    topic: p.text(),
    key: p.text(),
    payload: p.blob(),
    headers: p.json<Record<string, string>>(),
  },
});
export class OutboxMessage extends OutboxMessageSchema.class {}
OutboxMessageSchema.setClass(OutboxMessage);

const IdempotencyKeySchema = defineEntity({
  name: "IdempotencyKey",
  tableName: "idempotency_key",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => uuidv7()),
    scope: p.text(),
    route: p.text(),
    key: p.text(),
    fingerprint: p.text(),
    answer: p.blob().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
});
export class IdempotencyKey extends IdempotencyKeySchema.class {}
IdempotencyKeySchema.setClass(IdempotencyKey);
