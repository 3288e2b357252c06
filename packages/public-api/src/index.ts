/** The public JSON of each noun: its schema and its renderer, one for the API and for webhooks. */
export { AccountJson, accountStatuses, accountTypes, renderAccount } from "./account.ts";
export {
  ApiKeyCreation,
  ApiKeyForOperator,
  ApiKeyRevocation,
  OwnApiKey,
  renderApiKey,
  renderOwnApiKey,
} from "./api-key.ts";
export { accountNumberPattern, bankDetailForms, isAccountNumber } from "./bank-details.ts";
export { BeneficiaryJson, beneficiaryTypes, renderBeneficiary } from "./beneficiary.ts";
export { bicPattern, isBic } from "./bic.ts";
export {
  BusinessForItself,
  BusinessForOperator,
  BusinessUpdate,
  businessStatuses,
  renderBusiness,
} from "./business.ts";
export {
  ClientJson,
  clientKycStatuses,
  genders,
  kycLevels,
  renderClient,
  riskLevels,
} from "./client.ts";
export { type Country, countries, isCountryAlpha3 } from "./countries.ts";
export { DeadLetterJson, deadLetterStatuses, renderDeadLetter } from "./dead-letter.ts";
export { DeliveryJson, EventJson, renderDelivery, renderEvent } from "./event.ts";
export { type EventType, eventTypeNames, eventTypes, isEventType } from "./event-types.ts";
export { isIban, normaliseBankDetail } from "./iban.ts";
export {
  KycApplicationCreation,
  KycApplicationJson,
  KycReviewJson,
  kycDocuments,
  kycStatuses,
  kycVerdicts,
  renderKycApplication,
  renderKycApplicationCreation,
} from "./kyc-application.ts";
export { KycEventJson, renderKycEvent } from "./kyc-event.ts";
export { currencyExponents, formatMoney, isMoneyText, parseMoney } from "./money.ts";
export {
  accountPurposes,
  monthlyVolumes,
  OnboardingDetailsJson,
  OnboardingStatusJson,
  occupationSectors,
  occupations,
  renderOnboardingDetails,
  renderOnboardingStatus,
  sourcesOfFunds,
} from "./onboarding.ts";
export { PaymentJson, paymentStatuses, renderPayment } from "./payment.ts";
export { PaymentEventJson, renderPaymentEvent } from "./payment-event.ts";
export {
  ChangedPaymentJson,
  RefundJson,
  refundOutcomes,
  renderChangedPayment,
  renderRefund,
} from "./payment-refund.ts";
export { isoTimestamp } from "./render.ts";
export { isRoutingNumber, routingNumberPattern } from "./routing-number.ts";
export {
  renderWebhookEndpoint,
  WebhookEndpointCreation,
  WebhookEndpointFields,
  WebhookEndpointJson,
  WebhookEndpointUpdate,
  webhookEndpointStatuses,
} from "./webhook-endpoint.ts";
