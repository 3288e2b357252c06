/** The public JSON of each noun: its schema and its renderer, one for the API and for webhooks. */
export { currencyExponents, formatMoney, isMoneyText, parseMoney } from "./money.ts";
export { PaymentJson, paymentStatusNames, renderPayment } from "./payment.ts";
export { paymentEventTypeNames, renderPaymentEvent } from "./payment-event.ts";
export { enumNames, isoTimestamp } from "./render.ts";
