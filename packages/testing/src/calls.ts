import type { CallOptions } from "@amana/rpc";

/**
 * Returns call options with an Idempotency-Key, as for a POST. A stored response sets `replayed` to
 * true.
 */
export function withIdempotencyKey(
  caller: CallOptions["caller"],
  key: string,
  fingerprint = "f1",
): CallOptions & { replayed: boolean } {
  const options = {
    caller,
    timeoutMs: 20_000,
    idempotencyKey: { key, route: "POST /test", fingerprint },
    replayed: false,
    onReplayed: () => {
      options.replayed = true;
    },
  };
  return options;
}

/** Returns the error of a call. Throws when the call succeeds. */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => {
      throw new Error("the call succeeded, but a refusal was expected");
    },
    (error: unknown) => error,
  );
}
