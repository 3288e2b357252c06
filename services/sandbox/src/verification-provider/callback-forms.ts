import type { CallbackForm } from "./callback-form.ts";
import type { Dialect } from "./dialect.ts";
import { diditCallbacks } from "./didit/callback.ts";
import { portCallbacks } from "./port-callback.ts";
import { sumsubCallbacks } from "./sumsub/callback.ts";

export const callbackForms: Readonly<Record<Dialect, CallbackForm>> = {
  port: portCallbacks,
  didit: diditCallbacks,
  sumsub: sumsubCallbacks,
};
