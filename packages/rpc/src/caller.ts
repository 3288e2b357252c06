import { forbidden } from "./domain-error.ts";

/** On whose behalf a call is made, as the gateway established it. */
export type Caller =
  | { readonly role: "business"; readonly businessId: string; readonly keyId: string; readonly keyPrefix: string }
  | { readonly role: "admin"; readonly keyId: string; readonly keyPrefix: string }
  /** The platform itself: key look-ups, the public return redirect, events handed over. */
  | { readonly role: "platform" }
  /** Nobody vouches for anyone: for RPCs that take no caller; see `serve`. */
  | { readonly role: "nobody" };

export const platformCaller: Caller = { role: "platform" };
export const noCaller: Caller = { role: "nobody" };

/** The business a call is made for. Refuses calls that are not made for one. */
export function requireBusiness(caller: Caller): string {
  if (caller.role !== "business") {
    throw forbidden("business_key_required", "This needs the key of a business.");
  }
  return caller.businessId;
}

/** Refuses everyone but operators; returns the operator. */
export function requireAdmin(caller: Caller): Caller & { role: "admin" } {
  if (caller.role !== "admin") throw forbidden("admin_required", "This needs an operator's key.");
  return caller;
}

/** Refuses everyone but the platform itself. */
export function requirePlatform(caller: Caller): void {
  if (caller.role !== "platform") throw forbidden("platform_required", "Only the platform itself may ask this.");
}
