/**
 * The card processor as this service sees it. Each operation ends in one of three ways; "unknown" changes no
 * state, it only means that somebody has to ask again.
 */
export interface CardProcessor {
  register(order: OrderToRegister, timeoutMs: number): Promise<Outcome<RegisteredOrder>>;
  /** Acknowledges a paid order and tells its state. An order that is paid but never confirmed is cancelled. */
  confirm(orderId: string, language: string, timeoutMs: number): Promise<Outcome<OrderState>>;
  /** Reads an order's state; safe to repeat. `refused` with code 6: there is surely no such order. */
  status(order: { orderId: string } | { orderNumber: string }, timeoutMs: number): Promise<Outcome<OrderState>>;
  /** Has no idempotency key: never called again without a status read in between. */
  refund(orderId: string, amountMinor: bigint, timeoutMs: number): Promise<Outcome<null>>;
}

export type Outcome<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "refused"; readonly errorCode: string; readonly message: string }
  | { readonly kind: "unknown"; readonly reason: string };

export interface OrderToRegister {
  readonly orderNumber: string;
  readonly amountMinor: bigint;
  readonly returnUrl: string;
  readonly failUrl: string;
  readonly language: string;
  readonly description: string | undefined;
  readonly orderRef: string | undefined;
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
