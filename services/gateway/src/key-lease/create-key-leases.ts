import { platformCaller } from "@amana/rpc";
import type { Rpc } from "../rpc.ts";
import { KeyLeases } from "./key-leases.ts";

const lookUpTimeoutMs = 3_000;

/** Key leases that ask identity. */
export function createKeyLeases({ keyLeases }: Rpc): KeyLeases {
  return new KeyLeases({
    lookUp: (keyHashes) => keyLeases.resolveKeys({ keyHashes }, { caller: platformCaller, timeoutMs: lookUpTimeoutMs }),
  });
}
