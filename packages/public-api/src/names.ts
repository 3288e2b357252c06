/**
 * Enum values of the API. This module loads no schemas, because loading them would take most of the
 * time of a CLI command.
 */
import { enumNames } from "@amana/contracts/enum-names";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { DeadLetterStatus } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { CustomerFieldRule, PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundOutcome } from "@amana/contracts/payments/v1/refund_pb";

export const businessStatuses = enumNames(BusinessStatus);
export const customerFieldRules = enumNames(CustomerFieldRule);
export const deadLetterStatuses = enumNames(DeadLetterStatus);
export const kycStatuses = enumNames(KycStatus);
export const kycVerdicts = enumNames(KycVerdict);
export const paymentLinkStatuses = enumNames(PaymentLinkStatus);
export const paymentStatuses = enumNames(PaymentStatus);
export const refundOutcomes = enumNames(RefundOutcome);
export { eventLogTypes, eventTypeNames } from "./event-types.ts";
