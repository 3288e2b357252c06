/**
 * The card processor as this service sees it. Each operation ends in one of three ways; "unknown"
 * changes nothing, somebody has to ask again. Each names its business, so that none takes all.
 */
export interface CardProcessor {
  register(order: OrderToRegister, timeoutMs: number): Promise<Outcome<RegisteredOrder>>;
  /** Acknowledges a paid order and tells its state. One that is never confirmed is cancelled. */
  confirm(order: KnownOrder & { readonly language: string }, timeoutMs: number): Promise<Outcome<OrderState>>;
  /** Reads an order's state; safe to repeat. `refused` with code 6: there is no such order. */
  status(order: KnownOrder | NumberedOrder, timeoutMs: number): Promise<Outcome<OrderState>>;
  /**
   * Gives back. Has no idempotency key: never called again without a status read in between.
   * `commit` is called once the connection stands and before the first byte; when it answers false
   * or throws, nothing is sent. "not_sent": surely not one byte has left.
   */
  refund(
    order: KnownOrder & { readonly amountMinor: bigint },
    timeoutMs: number,
    commit: () => Promise<boolean>,
  ): Promise<Outcome<null> | { readonly kind: "not_sent"; readonly reason: string }>;
  /** Whether a business already has more of this sort waiting than can be begun soon. */
  isCrowded(businessId: string, sort: "registrations" | "reads"): boolean;
}

export interface KnownOrder {
  readonly businessId: string;
  readonly orderId: string;
}

interface NumberedOrder {
  readonly businessId: string;
  readonly orderNumber: string;
}

export type Outcome<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "refused"; readonly errorCode: string; readonly message: string }
  | { readonly kind: "unknown"; readonly reason: string };

export interface OrderToRegister {
  readonly businessId: string;
  readonly orderNumber: string;
  readonly amountMinor: bigint;
  /** Where the card holder's browser goes afterwards, whatever happened. */
  readonly returnUrl: string;
  readonly language: string;
  readonly description: string | null | undefined;
  readonly orderRef: string | null | undefined;
}

export interface RegisteredOrder {
  readonly orderId: string;
  readonly formUrl: string;
}

/** What the processor says of an order. Absent: it did not say. */
export interface OrderState {
  readonly errorCode: string | undefined;
  readonly orderStatus: number | undefined;
  readonly orderId: string | undefined;
  readonly orderNumber: string | undefined;
  readonly amountMinor: bigint | undefined;
  /** As on the wire: "012" for DZD. */
  readonly currency: string | undefined;
  readonly refundedMinor: bigint | undefined;
  readonly actionCode: string | undefined;
  readonly actionCodeDescription: string | undefined;
  readonly respCode: string | undefined;
  readonly respCodeDesc: string | undefined;
  readonly approvalCode: string | undefined;
  readonly maskedPan: string | undefined;
}

/** The status call's code for an order that does not exist. */
export const unknownOrderCode = "6";
/** The register call's code for an order number that is taken. */
export const orderNumberUsedCode = "1";
