import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { CheckoutSchema, CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import {
  CustomerFieldRule,
  CustomerFieldsSchema,
  PaymentLinkSchema,
  PaymentLinkStatus,
} from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentSchema, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { TestGateway } from "./harness.ts";

export const linkToken = "k3v9Qk2mZxW1r0uYt5nB7A";
export const paymentToken = "a".repeat(64);
export const formToken = "form-0123456789abcdef";
export const formUrl = "https://forms.test/pay/order-1";

export type LinkInit = MessageInitShape<typeof PaymentLinkSchema>;
export type PaymentInit = MessageInitShape<typeof PaymentSchema>;

/** A link with a fixed price. */
export const aLink = (init: LinkInit = {}) =>
  create(PaymentLinkSchema, {
    id: "01a1b2c3-0000-7000-8000-000000000001",
    businessId: "01a1b2c3-0000-7000-8000-0000000000b1",
    name: "Tapis berbère 2 × 3 m",
    description: "Laine naturelle, tissé à la main à Ghardaïa. Livraison comprise.",
    amountMinor: 1_250_000n,
    currency: "DZD",
    language: "FR",
    status: PaymentLinkStatus.ACTIVE,
    url: `https://pay.test/pay/${linkToken}`,
    ...init,
  });

/** A link whose buyer chooses the amount, and whose form shows all fields for personal details. */
export const anOpenLink = (init: LinkInit = {}) =>
  aLink({
    amountMinor: undefined,
    amountMinMinor: 5_000n,
    amountMaxMinor: 50_000_000n,
    customerFields: create(CustomerFieldsSchema, {
      name: CustomerFieldRule.REQUIRED,
      email: CustomerFieldRule.OPTIONAL,
      phone: CustomerFieldRule.REQUIRED,
    }),
    conditionsUrl: "https://shop.test/conditions",
    ...init,
  });

/** A payment that waits for the card holder. */
export const aPayment = (init: PaymentInit = {}) =>
  create(PaymentSchema, {
    id: "01a1b2c3-0000-7000-8000-0000000000a1",
    businessId: "01a1b2c3-0000-7000-8000-0000000000b1",
    amountMinor: 1_250_000n,
    currency: "DZD",
    status: PaymentStatus.PENDING,
    language: "FR",
    processorOrderNumber: "0000001042",
    createdAtMs: 1_795_600_000_000n,
    updatedAtMs: 1_795_600_000_000n,
    formUrl,
    ...init,
  });

export const aPaidPayment = (init: PaymentInit = {}) =>
  aPayment({
    status: PaymentStatus.PAID,
    paidAtMs: 1_795_600_300_000n,
    approvalCode: "303004",
    cardBrand: "CIB",
    maskedPan: "628058**1011",
    processorOrderId: "yvCz2Z5hZ0mB4MAABBcD",
    processorOrderStatus: 2,
    respCode: "00",
    respCodeDesc: "Votre paiement a été accepté",
    orderRef: "CMD-2026-118",
    ...init,
  });

/** Makes the services behind the gateway respond for one link of an active business. */
export function serveLink(
  { behaviour }: Pick<TestGateway, "behaviour">,
  link: ReturnType<typeof aLink> = aLink(),
  checkout: MessageInitShape<typeof CheckoutSchema> = {},
  business: { name?: string; status?: BusinessStatus } = {},
): void {
  behaviour.keyLeases.resolveBusiness = async () => ({
    name: business.name ?? "Atelier Tafilalt",
    status: business.status ?? BusinessStatus.ACTIVE,
    leaseMs: 0,
  });
  behaviour.checkout.getCheckout = async () => create(CheckoutSchema, { link, state: CheckoutState.OPEN, ...checkout });
  behaviour.checkout.startCheckout = async () => ({ payment: aPayment(), paymentToken });
}
