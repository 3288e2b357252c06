/** The public JSON of each noun: its schema and its renderer, one for the API and for webhooks. */
export {
  ApiKeyCreation,
  ApiKeyForOperator,
  ApiKeyRevocation,
  OwnApiKey,
  renderApiKey,
  renderOwnApiKey,
} from "./api-key.ts";
export {
  BusinessForItself,
  BusinessForOperator,
  BusinessUpdate,
  businessStatusNames,
  renderBusiness,
} from "./business.ts";
export { DeliveryJson, EventJson, renderDelivery, renderEvent } from "./event.ts";
export { type EventType, eventTypeNames, eventTypes, isEventType } from "./event-types.ts";
export {
  KycApplicationCreation,
  KycApplicationJson,
  kycStatusNames,
  kycVerdictNames,
  renderKycApplication,
  renderKycApplicationCreation,
} from "./kyc-application.ts";
export { kycEventTypeNames, renderKycEvent } from "./kyc-event.ts";
export { currencyExponents, formatMoney, isMoneyText, parseMoney } from "./money.ts";
export { PaymentJson, paymentStatusNames, renderPayment } from "./payment.ts";
export { paymentEventTypeNames, renderPaymentEvent } from "./payment-event.ts";
export { enumNames, isoTimestamp } from "./render.ts";
export {
  renderWebhookEndpoint,
  WebhookEndpointCreation,
  WebhookEndpointJson,
  WebhookEndpointUpdate,
  webhookEndpointStatusNames,
} from "./webhook-endpoint.ts";
