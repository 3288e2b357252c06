import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { uuidv7 } from "@amana/runtime";

const at = 1_795_611_900_000n;
/** A page token of a receipt. */
export const receiptToken = "ab".repeat(32);
const businessId = uuidv7();

/** The receipt of a PAID payment, as the payments service returns it. */
export const aReceipt = (payment: object = {}, receipt: object = {}) => ({
  payment: {
    id: "019a0000-0000-7000-8000-000000000001",
    businessId,
    amountMinor: 500_000n,
    currency: "DZD",
    status: PaymentStatus.PAID,
    language: "FR",
    successUrl: "https://shop.example/paid",
    failUrl: "https://shop.example/failed",
    processorOrderNumber: "1000000001",
    processorOrderId: "V721uPPfNNofVQAAABL3",
    approvalCode: "303004",
    respCodeDesc: "Votre paiement a été accepté",
    cardBrand: "EDAHABIA",
    maskedPan: "628058**7215",
    description: "Deux billets <b>“L’Été”</b>",
    orderRef: "panier-7",
    createdAtMs: at,
    updatedAtMs: at,
    paidAtMs: at,
    ...payment,
  },
  receiptNumber: "20261125-1000000001",
  issuedAtMs: at,
  token: receiptToken,
  canSendEmail: true,
  ...receipt,
});

/** The receipt of a payment that the processor reversed. */
export const aReversedReceipt = () => aReceipt({ status: PaymentStatus.CANCELED }, { receiptNumber: "", issuedAtMs: 0n });
