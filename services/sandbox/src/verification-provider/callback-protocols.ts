import type { CallbackProtocol } from "./callback-protocol.ts";
import type { Dialect } from "./dialect.ts";
import { diditCallbacks } from "./didit/callback.ts";
import { portCallbacks } from "./port-callback.ts";
import { sumsubCallbacks } from "./sumsub/callback.ts";

export const callbackProtocols: Readonly<Record<Dialect, CallbackProtocol>> = {
  port: portCallbacks,
  didit: diditCallbacks,
  sumsub: sumsubCallbacks,
};
