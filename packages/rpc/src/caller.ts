import { forbidden } from "./domain-error.ts";

/**
 * The identity in whose name a call is made. The gateway authenticates businesses and operators.
 */
export type Caller =
  | { readonly role: "business"; readonly businessId: string; readonly keyId: string; readonly keyPrefix: string }
  | { readonly role: "admin"; readonly keyId: string; readonly keyPrefix: string }
  /**
   * The platform, for example for key lookups, the public return redirect and kyc's reads of a
   * client's standing.
   */
  | { readonly role: "platform" }
  /**
   * No authenticated caller, for RPCs that need no caller token (see `serve`), such as the direct
   * transport of events.
   */
  | { readonly role: "none" };

export const platformCaller: Caller = { role: "platform" };
export const noCaller: Caller = { role: "none" };

/** Returns the business id of the caller. Throws a DomainError for any other caller. */
export function requireBusiness(caller: Caller): string {
  if (caller.role !== "business") {
    throw forbidden("business_key_required", "Only a business may send this request. Use an API key of a business.");
  }
  return caller.businessId;
}

/** Returns the caller when it is an operator. Throws a DomainError for any other caller. */
export function requireAdmin(caller: Caller): Caller & { role: "admin" } {
  if (caller.role !== "admin") throw forbidden("admin_required", "Only an operator may send this request. Use an operator key.");
  return caller;
}

/** Throws a DomainError unless the caller is the platform. */
export function requirePlatform(caller: Caller): void {
  if (caller.role !== "platform") throw forbidden("platform_required", "Only the platform may call this method.");
}
