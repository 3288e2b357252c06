import { platformCaller } from "@amana/rpc";
import type { Rpc } from "../rpc.ts";
import { BelievedKeys } from "./believed-keys.ts";

const lookUpTimeoutMs = 3_000;

/** Key leases that ask identity. */
export function createBelievedKeys({ keyLeases }: Rpc): BelievedKeys {
  return new BelievedKeys({
    lookUp: (keyHashes) => keyLeases.resolveKeys({ keyHashes }, { caller: platformCaller, timeoutMs: lookUpTimeoutMs }),
  });
}
