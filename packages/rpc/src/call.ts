import type { DescMethodUnary, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Caller } from "./caller.ts";

/** The Idempotency-Key of a POST, and fingerprints of the request. */
export interface IdempotencyKey {
  readonly key: string;
  /** Operation of the public API: "POST /api/v1/payments". */
  readonly route: string;
  /**
   * HMAC-SHA-256 of path and body under a key of the gateway, in hex. It is stored with the
   * response.
   */
  readonly fingerprint: string;
  /**
   * Fingerprint that is computed with the gateway's other fingerprint key while a key is replaced.
   * An earlier request may have stored this fingerprint.
   */
  readonly otherFingerprint?: string;
}

/** Returns whether the stored fingerprint of an Idempotency-Key belongs to the same request. */
export const isSameRequest = ({ fingerprint, otherFingerprint }: IdempotencyKey, stored: string): boolean =>
  stored === fingerprint || stored === otherFingerprint;

/** Metadata of an RPC: everything about the request except its message. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  /** IP address of the caller at the gateway; empty for a call that the platform starts. */
  readonly address: string;
  /** W3C trace context of the call. */
  readonly traceparent: string;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** Returns the milliseconds until the deadline, after which the client no longer waits. */
  remainingMs(): number;
  /** Marks the response or refusal as a stored result of an earlier call with the same key. */
  markReplayed(): void;
}

/** Implements a unary RPC. */
export type Implementation<M extends DescMethodUnary> = (
  request: MessageShape<M["input"]>,
  call: Call,
) => Promise<MessageInitShape<M["output"]>>;

/** Implementations of all RPCs of a service. */
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
  /** Response header of a stored response. */
  replayed: "amana-replayed",
} as const;

/** Timeout of a call without a deadline. */
const timeoutMsDefault = 5_000;
/** The longest calls, payment creation and refund, wait for the card processor. */
export const timeoutMsMax = 60_000;

/** Reads the metadata of a call from its headers. `caller` is already authenticated. */
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
