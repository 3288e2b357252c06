import type { Call, Caller } from "@amana/rpc";
import { aBusinessCaller } from "@amana/testing";
import { IdempotencyRecord, idempotencyMigrations } from "../src/index.ts";

/** Database of a service with Idempotency-Keys. */
export const database = {
  entities: [IdempotencyRecord],
  migrations: [...idempotencyMigrations, { name: "0001-effect", sql: "create table effect (body text not null)" }],
};

export interface TestCall extends Call {
  /** Number of calls of `markReplayed`. */
  readonly replays: number;
}

/**
 * Returns a call with an Idempotency-Key. A call with equal arguments is a repetition of the same
 * request.
 */
export function aCall({
  caller = aBusinessCaller(),
  key = "key" as string | null,
  route = "POST /api/v1/keys",
  fingerprint = "f1",
  otherFingerprint,
}: {
  caller?: Caller;
  /** Null for a call without a key. */
  key?: string | null;
  route?: string;
  fingerprint?: string;
  otherFingerprint?: string;
} = {}): TestCall {
  let replays = 0;
  return {
    caller,
    requestId: "",
    address: "",
    traceparent: "",
    idempotencyKey: key === null ? undefined : { key, route, fingerprint, otherFingerprint },
    remainingMs: () => 5_000,
    markReplayed: () => {
      replays++;
    },
    get replays() {
      return replays;
    },
  };
}
