import { type KeyObject, sign, verify } from "node:crypto";
import { setBounded } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Caller } from "./caller.ts";

/**
 * Private key that signs caller tokens. The gateway has such a key. kyc has its own key for its
 * calls to the service `clients`.
 */
export interface CallerKey {
  readonly id: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

/** Public key with which a service verifies caller tokens. */
export interface TrustedKey {
  readonly id: string;
  /** Ed25519. */
  readonly publicKey: KeyObject;
  /**
   * "anyone" if the key may sign for all callers and methods. A list of methods if the key may sign
   * only for the platform and only for these methods.
   */
  readonly signsFor: "anyone" | readonly DescMethodUnary[];
}

/** Time for which a token is valid. */
const lifetimeMs = 10_000;
/**
 * Age at which the signer replaces a token, so that no token expires before a service verifies it.
 */
const renewAfterMs = 5_000;
/** Permitted difference between the clocks of two hosts. */
const clockSkewMs = 5_000;
/** Maximum number of tokens that a signer or verifier caches. */
const cachedMax = 10_000;
/** Maximum length of a token. A valid token is shorter, because it contains only ids and names. */
const tokenLengthMax = 2_048;

/**
 * Creates a signer of caller tokens: JSON Web Tokens (RFC 7519) with an Ed25519 signature
 * (RFC 8037), each valid for one service and ten seconds. The signer reuses a caller's token for
 * the same service for five seconds.
 */
export function createCallerSigner({ id, privateKey }: CallerKey, nowMs: () => number = Date.now) {
  const header = base64url(JSON.stringify({ alg: "EdDSA", kid: id }));
  const cachedTokens = new Map<string, { token: string; atMs: number }>();

  return {
    /** Returns a token of the caller for a service. Throws for `noCaller`. */
    sign(caller: Caller, audience: string): string {
      if (caller.role === "none") throw new Error("a caller token cannot be signed for a caller with the role none");
      const name = `${audience} ${JSON.stringify(caller)}`;
      const now = nowMs();
      const cached = cachedTokens.get(name);
      // Replaces a cached token whose time is in the future, because the clock was set back.
      if (cached && now >= cached.atMs && now < cached.atMs + renewAfterMs) return cached.token;
      const claims = { ...caller, aud: audience, iat: now / 1_000, exp: (now + lifetimeMs) / 1_000 };
      const input = `${header}.${base64url(JSON.stringify(claims))}`;
      const token = `${input}.${sign(null, Buffer.from(input), privateKey).toString("base64url")}`;
      setBounded(cachedTokens, name, { token, atMs: now }, cachedMax);
      return token;
    },
  };
}

interface VerifiedToken {
  readonly caller: Caller;
  readonly signsFor: TrustedKey["signsFor"];
  readonly notBeforeMs: number;
  readonly endsAtMs: number;
}

/** Creates a verifier of the caller tokens for one service. It caches verified signatures. */
export function createCallerVerifier(
  { audience, keys }: { audience: string; keys: readonly TrustedKey[] },
  nowMs: () => number = Date.now,
) {
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  const cachedResults = new Map<string, VerifiedToken>();

  const verifyOnce = (token: string): VerifiedToken => {
    const [header = "", payload = "", signature = "", ...rest] = token.split(".");
    if (rest.length > 0 || token.length > tokenLengthMax) throw tokenError("is malformed");
    const { alg, kid } = parse(header);
    const key = keyOf.get(String(kid));
    if (alg !== "EdDSA" || !key) throw tokenError("has an unknown key or algorithm");
    if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, Buffer.from(signature, "base64url"))) {
      throw tokenError("has an invalid signature");
    }
    const { aud, iat, exp, ...caller } = parse(payload);
    if (aud !== audience) throw tokenError("is for another service");
    const issuedAtMs = Number(iat) * 1_000;
    // A signer cannot extend the lifetime with a late `exp`.
    const endsAtMs = Math.min(Number(exp) * 1_000, issuedAtMs + lifetimeMs);
    return { caller: caller as unknown as Caller, signsFor: key.signsFor, notBeforeMs: issuedAtMs - clockSkewMs, endsAtMs };
  };

  return {
    /**
     * Returns the caller of a token for a call of a method. Throws a ConnectError `unauthenticated`
     * with the reason if the token is not valid for the call.
     */
    check(token: string | undefined, method: DescMethodUnary): Caller {
      if (!token) throw tokenError("is missing");
      let cached = cachedResults.get(token);
      if (!cached) {
        cached = verifyOnce(token);
        setBounded(cachedResults, token, cached, cachedMax);
      }
      const now = nowMs();
      // The negation rejects NaN, the value of a claim that is not a number.
      if (!(now >= cached.notBeforeMs && now < cached.endsAtMs)) {
        throw tokenError("has expired or is not valid yet: the call waited too long, or the clocks of the hosts differ");
      }
      const { caller, signsFor } = cached;
      if (caller.role === "none") throw tokenError("has no caller");
      if (signsFor !== "anyone" && !(caller.role === "platform" && signsFor.includes(method))) {
        throw tokenError("is signed with a key that is not permitted for this caller or method");
      }
      return caller;
    },
  };
}

export type CallerSigner = ReturnType<typeof createCallerSigner>;

const base64url = (text: string) => Buffer.from(text).toString("base64url");

function parse(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw tokenError("is malformed");
}

const tokenError = (reason: string) => new ConnectError(`the caller token ${reason}`, Code.Unauthenticated);
