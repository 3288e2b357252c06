/** A receipt of a card payment that is PAID or REFUNDED. Texts are stored values, not markup. */
export interface Receipt {
  readonly receiptNumber: string;
  readonly issuedAt: Date;
  /** Name of the seller. */
  readonly businessName: string;
  readonly orderRef?: string;
  readonly description?: string;
  readonly customerName?: string;
  readonly processorOrderId: string;
  readonly processorOrderNumber: string;
  readonly approvalCode?: string;
  /** Text of the card processor, in the language of the payment. */
  readonly respCodeDesc?: string;
  readonly cardBrand?: string;
  readonly maskedPan?: string;
  /** Paid amount in centimes. */
  readonly amountMinor: bigint;
  readonly paidAt: Date;
  /** Undefined unless the payment is REFUNDED. */
  readonly refundedAmountMinor?: bigint;
  /** Undefined if the time of the refund is not known. */
  readonly refundedAt?: Date;
}

/** Toll-free number of the card holders' help line in Algeria. */
export const helpline = "3020";
