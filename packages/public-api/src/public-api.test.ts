import { enumNames } from "@amana/contracts/enum-names";
import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { BusinessSchema, BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { DeliverySchema, DeliveryStatus, EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointSchema, WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { create } from "@bufbuild/protobuf";
import type { TSchema } from "typebox";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import {
  accountStatuses,
  accountTypes,
  attemptErrors,
  beneficiaryTypes,
  businessStatuses,
  clientKycStatuses,
  DeliveryJson,
  deadLetterStatuses,
  eventTypeNames,
  eventTypes,
  isEventType,
  kycLevels,
  kycStatuses,
  kycVerdicts,
  PaymentJson,
  paymentStatuses,
  refundOutcomes,
  renderApiKey,
  renderBusiness,
  renderDelivery,
  renderEvent,
  renderOwnApiKey,
  renderPayment,
  renderPaymentEvent,
  renderWebhookEndpoint,
  riskLevels,
  webhookEndpointStatuses,
} from "./index.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const at = 1_795_170_000_000n;

/** Parses the serialized value, which has no undefined members. */
const parsedJson = (value: unknown) => JSON.parse(JSON.stringify(value));

const aPayment = (fields: object = {}) =>
  create(PaymentSchema, {
    id,
    businessId: id,
    amountMinor: 500_000n,
    currency: "DZD",
    status: PaymentStatus.PAID,
    language: "FR",
    createdAtMs: at,
    updatedAtMs: at,
    ...fields,
  });

describe("renderPayment", () => {
  test("renderPayment omits fields without a value", () => {
    const json = parsedJson(renderPayment(aPayment()));
    expect(Object.keys(json).sort()).toEqual((PaymentJson.required as string[]).toSorted());
    expect(json).toMatchObject({ amount: "5000.00", status: "PAID", created_at: "2026-11-20T10:20:00.000Z" });
  });

  test("renderPayment renders all fields that have a value", () => {
    const text = "x";
    const json = parsedJson(
      renderPayment(
        aPayment({
          paidAtMs: at,
          actionCode: text,
          actionCodeDescription: text,
          approvalCode: text,
          cardBrand: text,
          description: text,
          formUrl: text,
          maskedPan: text,
          orderRef: text,
          respCode: "00",
          respCodeDesc: text,
          processorErrorCode: text,
          processorOrderId: text,
          processorOrderStatus: 0,
          refundedAmountMinor: 0n,
          origin: "PROCESSOR",
          paymentLinkId: id,
          customerName: text,
          customerEmail: text,
          customerPhone: text,
          conditionsVersion: text,
          conditionsAcceptedAtMs: at,
          receiptUrl: text,
        }),
      ),
    );
    expect(Object.keys(json).sort()).toEqual(Object.keys(PaymentJson.properties).sort());
    expect(json).toMatchObject({ processor_order_status: 0, refunded_amount: "0.00", resp_code: "00" });
    expect(Check(PaymentJson as TSchema, json)).toBe(true);
  });
});

test("renderPaymentEvent renders payment_link_id and the link's metadata byte for byte if the payment has a payment link", () => {
  const event = create(PaymentEventSchema, {
    type: PaymentEventType.PAYMENT_COMPLETED,
    payment: aPayment({ paymentLinkId: id }),
    linkMetadata: '{"b":1.0,"a":"\\u00e9"}',
  });
  const text = renderPaymentEvent(event, "e1", "2026-11-20T10:00:00.000Z");
  expect(JSON.parse(text).payment_link_id).toBe(id);
  expect(text).toContain('"metadata":{"b":1.0,"a":"\\u00e9"}}');
});

test("renderPaymentEvent renders the fields in a fixed order, without nested objects", () => {
  const event = create(PaymentEventSchema, {
    type: PaymentEventType.PAYMENT_REFUNDED,
    payment: aPayment({ status: PaymentStatus.REFUNDED, orderRef: "commande-é-1", refundedAmountMinor: 500_000n }),
  });
  expect(renderPaymentEvent(event, "e1", "2026-11-20T10:00:00.000Z")).toBe(
    `{"id":"e1","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"${id}",` +
      `"payment_id":"${id}","order_ref":"commande-é-1","status":"REFUNDED","amount":"5000.00","currency":"DZD",` +
      `"refunded_amount":"5000.00"}`,
  );
});

test("renderBusiness renders api_key only when the message has an API key", () => {
  const business = create(BusinessSchema, { id, name: "B", status: BusinessStatus.ACTIVE, createdAtMs: at, updatedAtMs: at });
  expect(parsedJson(renderBusiness(business))).not.toHaveProperty("api_key");
  expect(parsedJson(renderBusiness({ ...business, apiKey: "sk" }))).toMatchObject({ api_key: "sk", status: "ACTIVE" });
});

test("renderApiKey and renderOwnApiKey render the prefix of the API key", () => {
  const key = create(ApiKeySchema, { id, businessId: id, name: "k", prefix: "sk_test_00000000", createdAtMs: at });
  expect(parsedJson(renderApiKey(key))).toMatchObject({ api_key_prefix: "sk_test_00000000", business_id: id });
  expect(parsedJson(renderOwnApiKey(key))).toMatchObject({ prefix: "sk_test_00000000" });
});

test("renderWebhookEndpoint renders the default event types when the message has no event types", () => {
  const endpoint = create(WebhookEndpointSchema, { id, businessId: id, status: WebhookEndpointStatus.ACTIVE });
  expect(renderWebhookEndpoint(endpoint).events).toEqual(eventTypeNames.filter((name) => !eventTypes[name].optIn));
  expect(renderWebhookEndpoint({ ...endpoint, events: ["KYC_CANCELED"] }).events).toEqual(["KYC_CANCELED"]);
});

test("renderWebhookEndpoint renders the secret only when the message has a secret", () => {
  const endpoint = create(WebhookEndpointSchema, {
    id,
    businessId: id,
    url: "https://a.example",
    status: WebhookEndpointStatus.ACTIVE,
  });
  expect(parsedJson(renderWebhookEndpoint(endpoint))).not.toHaveProperty("secret");
  expect(parsedJson(renderWebhookEndpoint({ ...endpoint, secret: "whsec_x" }))).toMatchObject({ secret: "whsec_x" });
});

test("renderEvent inserts the body byte for byte", () => {
  const body = '{"n":12345678901234567890,"f":1.10,"t":"\\u00e9"}';
  const text = renderEvent(create(EventSchema, { id, type: "PAYMENT_REFUNDED", createdAtMs: at, body }));
  expect(text).toBe(`{"id":"${id}","type":"PAYMENT_REFUNDED","created_at":"2026-11-20T10:20:00.000Z","body":${body}}`);
});

test("renderDelivery renders each attempt with its status code, duration and response", () => {
  const delivery = create(DeliverySchema, {
    id,
    endpointId: id,
    status: DeliveryStatus.SUCCEEDED,
    attempts: [{ atMs: at, statusCode: 200, durationMs: 3, response: "" }],
  });
  const json = parsedJson(renderDelivery(delivery));
  expect(json).toMatchObject({ status: "succeeded", attempts: [{ status_code: 200, duration_ms: 3, response: "" }] });
  expect(json).not.toHaveProperty("next_attempt_at");
  expect(Check(DeliveryJson as TSchema, json)).toBe(true);
});

test.each([
  [paymentStatuses, "PENDING PAID FAILED REFUSED CANCELED REFUNDED EXPIRED"],
  [refundOutcomes, "ACCEPTED REJECTED SEND_AGAIN"],
  [businessStatuses, "PENDING ACTIVE DISABLED REJECTED"],
  [kycStatuses, "CREATED OPENED SUBMITTED PROCESSING COMPLETED EXPIRED CANCELED FAILED"],
  [kycVerdicts, "APPROVED NEEDS_REVIEW REJECTED"],
  [clientKycStatuses, "NOT_STARTED CREATED PROCESSING ABORTED PENDING_REVIEW VALIDATED DECLINED"],
  [kycLevels, "FULL_KYC DOC_ONLY NOT_REQUIRED"],
  [riskLevels, "Low Medium High"],
  [accountTypes, "CURRENT SAVINGS ESCROW"],
  [accountStatuses, "PENDING ACTIVE SUSPENDED CLOSED"],
  [beneficiaryTypes, "PERSON COMPANY"],
  [webhookEndpointStatuses, "ACTIVE DISABLED"],
  [
    attemptErrors,
    "timeout dns_error connection_refused connection_reset tls_error address_forbidden invalid_response secret_unreadable",
  ],
  [deadLetterStatuses, "RETRYING WAITING PARKED FORGED DELIVERED DROPPED"],
])("an enum of the public API has exactly the values %j", (values: readonly string[], expected) => {
  expect(values).toEqual(expected.split(" "));
});

test("isEventType returns false for the events of intermediate KYC steps", () => {
  const steps = enumNames(KycEventType).filter((name) => !isEventType(name));
  expect(steps).toEqual(["KYC_CREATED", "KYC_OPENED", "KYC_SUBMITTED", "KYC_PROCESSING"]);
});
