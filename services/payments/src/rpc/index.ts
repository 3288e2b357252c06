export { createPayment } from "./create-payment.ts";
export { getPayment } from "./get-payment.ts";
export { getPaymentHistory } from "./get-payment-history.ts";
export { listStatementLines } from "./list-statement-lines.ts";
export { listChangedPayments, listPayments, listRefunds } from "./reads.ts";
export { refreshPayment } from "./refresh-payment.ts";
export { refundPayment } from "./refund-payment.ts";
export { resolveRefund } from "./resolve-refund.ts";
export { returnFromProcessor } from "./return-from-processor.ts";
