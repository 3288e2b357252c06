/**
 * Operations of the card processor. Each operation needs the id of the business, because each
 * business can use only a limited number of slots. After an "unknown" outcome, the caller must read
 * the order before it calls again.
 */
export interface CardProcessor {
  register(order: OrderToRegister, timeoutMs: number): Promise<Outcome<RegisteredOrder>>;
  /** Confirms a paid order and returns its state. The processor cancels an unconfirmed order. */
  confirm(order: KnownOrder & { readonly language: string }, timeoutMs: number): Promise<Outcome<OrderState>>;
  /**
   * Reads an order's state. The outcome "refused" with code 6 means that the order does not exist.
   */
  status(order: KnownOrder | NumberedOrder, timeoutMs: number): Promise<Outcome<OrderState>>;
  /**
   * Refunds an order. The operation has no idempotency key, so the caller must read the status
   * before it calls again. `commit` runs after the connection is established and before the first
   * byte is sent. If `commit` returns false or throws, no byte is sent and the outcome is
   * "not_sent".
   */
  refund(
    order: KnownOrder & { readonly amountMinor: bigint },
    timeoutMs: number,
    commit: () => Promise<boolean>,
  ): Promise<Outcome<null> | { readonly kind: "not_sent"; readonly reason: string }>;
  /** Returns whether the business has reached the limit of queued calls of this kind. */
  isQueueFull(businessId: string, kind: "registrations" | "reads"): boolean;
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
  /** URL to which the card holder's browser returns after success and failure. */
  readonly returnUrl: string;
  readonly language: string;
  readonly description: string | null | undefined;
  readonly orderRef: string | null | undefined;
}

export interface RegisteredOrder {
  readonly orderId: string;
  readonly formUrl: string;
}

/** State of an order. A field is undefined if the processor did not report it. */
export interface OrderState {
  readonly errorCode: string | undefined;
  readonly orderStatus: number | undefined;
  readonly orderId: string | undefined;
  readonly orderNumber: string | undefined;
  readonly amountMinor: bigint | undefined;
  /** ISO 4217 number: "012" for DZD. */
  readonly currency: string | undefined;
  readonly refundedMinor: bigint | undefined;
  readonly actionCode: string | undefined;
  readonly actionCodeDescription: string | undefined;
  readonly respCode: string | undefined;
  readonly respCodeDesc: string | undefined;
  readonly approvalCode: string | undefined;
  readonly maskedPan: string | undefined;
}

/** Error code of the status call for an order that does not exist. */
export const unknownOrderCode = "6";
/** Error code of the register call for an order number that is already used. */
export const orderNumberUsedCode = "1";
