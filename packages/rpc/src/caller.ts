import { createHmac, timingSafeEqual } from "node:crypto";
import { DomainError } from "./domain-error.ts";

/** On whose behalf a call is made, as the gateway established it. */
export type Caller =
  | { readonly role: "business"; readonly businessId: string; readonly keyId: string; readonly keyPrefix: string }
  | { readonly role: "admin"; readonly keyId: string; readonly keyPrefix: string }
  /** The platform itself: key look-ups, the public return redirect, events handed over. */
  | { readonly role: "platform" }
  /** Nobody vouches for anyone: for RPCs that take no caller; see `serve`. */
  | { readonly role: "nobody" };

export const platformCaller: Caller = { role: "platform" };
export const nobody: Caller = { role: "nobody" };

const lifetimeMs = 60_000;
const cacheMax = 10_000;

/**
 * Signs callers and checks their signatures (HMAC-SHA256 over a JSON text that ends within a minute), so that
 * a service acts only on what a holder of the shared secret vouches for. Both directions keep what they worked
 * out: a key that calls often costs one signature and one check in half a minute.
 */
export function createCallerTokens(secret: Uint8Array, nowMs: () => number = Date.now) {
  const signed = new Map<string, { token: string; renewAtMs: number }>();
  const checked = new Map<string, { caller: Caller; expiresAtMs: number }>();

  const mac = (payload: string) => createHmac("sha256", secret).update(payload).digest("base64url");

  return {
    sign(caller: Caller): string {
      const id = cacheKey(caller);
      const known = signed.get(id);
      if (known && known.renewAtMs > nowMs()) return known.token;
      if (signed.size >= cacheMax) signed.clear();
      const payload = Buffer.from(JSON.stringify({ ...caller, exp: nowMs() + lifetimeMs })).toString("base64url");
      const token = `${payload}.${mac(payload)}`;
      signed.set(id, { token, renewAtMs: nowMs() + lifetimeMs / 2 });
      return token;
    },

    /** The caller, or undefined for a token that is forged, damaged or too old. */
    check(token: string): Caller | undefined {
      const known = checked.get(token);
      if (known) {
        if (known.expiresAtMs > nowMs()) return known.caller;
        checked.delete(token);
        return undefined;
      }
      const [payload = "", signature = "", ...rest] = token.split(".");
      const expected = Buffer.from(mac(payload));
      const given = Buffer.from(signature);
      if (rest.length > 0 || expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
      const { exp, ...caller } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Caller & { exp: number };
      if (!(exp > nowMs())) return undefined;
      if (checked.size >= cacheMax) checked.clear();
      checked.set(token, { caller: caller as Caller, expiresAtMs: exp });
      return caller as Caller;
    },
  };
}

function cacheKey(caller: Caller): string {
  if (caller.role === "platform" || caller.role === "nobody") return caller.role;
  return caller.role === "admin" ? `admin ${caller.keyId}` : `business ${caller.keyId} ${caller.businessId}`;
}

export type CallerTokens = ReturnType<typeof createCallerTokens>;

/** The business a call is made for. Refuses calls that are not made for one. */
export function businessOf(caller: Caller): string {
  if (caller.role !== "business") {
    throw new DomainError("forbidden", "business_key_required", "This needs the key of a business.");
  }
  return caller.businessId;
}

/** Refuses everyone but operators; returns the operator. */
export function adminOf(caller: Caller): Caller & { role: "admin" } {
  if (caller.role !== "admin") throw new DomainError("forbidden", "admin_required", "This needs an operator's key.");
  return caller;
}

/** Refuses everyone but the platform itself. */
export function platformOf(caller: Caller): void {
  if (caller.role !== "platform")
    throw new DomainError("forbidden", "platform_required", "Only the platform itself may ask this.");
}
