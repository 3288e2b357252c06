import type { DescMethodUnary, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller } from "./caller.ts";

/** The key a business chose for one POST, and what stands for what it sent with it. */
export interface IdempotencyKey {
  readonly key: string;
  /** Names the operation on the public API: "POST /api/v1/payments". */
  readonly route: string;
  /** HMAC-SHA-256 of path and body under a key of the gateway's, in hex; kept with the answer. */
  readonly fingerprint: string;
  /** The same under the gateway's other key, while one is replaced: may have been kept. */
  readonly otherFingerprint?: string | undefined;
}

/** Whether a fingerprint that was kept under the same key is of the same request. */
export const isSameRequest = ({ fingerprint, otherFingerprint }: IdempotencyKey, kept: string): boolean =>
  kept === fingerprint || kept === otherFingerprint;

/** What an RPC knows about the request it serves, besides its message. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  /** Address of the caller at the gateway; empty when the platform calls by itself. */
  readonly address: string;
  /** W3C trace context, passed on with every hop and event. */
  readonly traceparent: string;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** Milliseconds left until nobody waits for the answer any more. */
  remainingMs(): number;
  /** Says that the answer or refusal is the stored one of an earlier call with the same key. */
  markReplayed(): void;
}

/** The implementation of a unary RPC: the whole use case. */
export type Implementation<M extends DescMethodUnary> = (
  request: MessageShape<M["input"]>,
  call: Call,
) => Promise<MessageInitShape<M["output"]>>;

/** One implementation for each RPC of a service. */
export type Implementations<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary ? Implementation<S["method"][K]> : never;
};

export const headerNames = {
  caller: "amana-caller",
  requestId: "x-request-id",
  address: "amana-address",
  traceparent: "traceparent",
  timeoutMs: "connect-timeout-ms",
  idempotencyKey: "idempotency-key",
  idempotencyRoute: "amana-idempotency-route",
  idempotencyFingerprint: "amana-idempotency-fingerprint",
  /** On the answer: it is a stored one. */
  replayed: "amana-replayed",
} as const;

/** When a caller names no deadline. */
const timeoutMsDefault = 5_000;
/** Payment creation and refund wait for the card processor; nothing waits longer. */
export const timeoutMsMax = 60_000;

/** The call's metadata, of a caller who was established before. */
export function readCall(
  header: (name: string) => string | undefined,
  caller: Caller,
  timeoutMs: number | undefined,
  markReplayed: () => void,
): Call {
  const endsAtMs = performance.now() + Math.min(timeoutMs ?? timeoutMsDefault, timeoutMsMax);
  const key = header(headerNames.idempotencyKey);
  const [fingerprint = "", otherFingerprint] = (header(headerNames.idempotencyFingerprint) ?? "").split(",");
  return {
    caller,
    requestId: header(headerNames.requestId) ?? "",
    address: header(headerNames.address) ?? "",
    traceparent: header(headerNames.traceparent) ?? "",
    idempotencyKey: key ? { key, route: header(headerNames.idempotencyRoute) ?? "", fingerprint, otherFingerprint } : undefined,
    remainingMs: () => Math.max(0, endsAtMs - performance.now()),
    markReplayed,
  };
}
