import { type KeyObject, sign, verify } from "node:crypto";
import { setBounded } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Caller } from "./caller.ts";

/** Vouches for callers: held only by who may do so. */
export interface CallerKey {
  readonly id: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

/** What a service checks tokens with. */
export interface TrustedKey {
  readonly id: string;
  /** Ed25519. */
  readonly publicKey: KeyObject;
  /** With methods: for the platform alone, and only there. */
  readonly signsFor: "anyone" | readonly DescMethodUnary[];
}

/** A token is good for this long. */
const lifetimeMs = 10_000;
/** From this age on a new one is made, so that none is old when it arrives. */
const renewAfterMs = 5_000;
/** The clocks of two hosts may differ by as much. */
const clockSkewMs = 5_000;
const rememberedMax = 10_000;
/** Ids and names only: a longer text is none of ours. */
const tokenLengthMax = 2_048;

/**
 * Makes tokens: JSON Web Tokens (RFC 7519) signed with Ed25519 (RFC 8037), for one service each and
 * for ten seconds. A caller's token is made once for each service and used for all calls of the
 * next five seconds.
 */
export function createCallerSigner({ id, privateKey }: CallerKey, nowMs: () => number = Date.now) {
  const header = base64url(JSON.stringify({ alg: "EdDSA", kid: id }));
  const made = new Map<string, { token: string; atMs: number }>();

  return {
    /** Throws for `nobody`, for whom nobody can vouch. */
    sign(caller: Caller, audience: string): string {
      if (caller.role === "nobody") throw new Error("nobody can be vouched for");
      const name = `${audience} ${JSON.stringify(caller)}`;
      const now = nowMs();
      const known = made.get(name);
      // Also when the clock was put back.
      if (known && now >= known.atMs && now < known.atMs + renewAfterMs) return known.token;
      const claims = { ...caller, aud: audience, iat: now / 1_000, exp: (now + lifetimeMs) / 1_000 };
      const signed = `${header}.${base64url(JSON.stringify(claims))}`;
      const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
      setBounded(made, name, { token, atMs: now }, rememberedMax);
      return token;
    },
  };
}

interface Verified {
  readonly caller: Caller;
  readonly signsFor: TrustedKey["signsFor"];
  readonly notBeforeMs: number;
  readonly endsAtMs: number;
}

/** Checks tokens made for one service. A signature is checked once; memory is bounded. */
export function createCallerVerifier(
  { audience, keys }: { audience: string; keys: readonly TrustedKey[] },
  nowMs: () => number = Date.now,
) {
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  const verified = new Map<string, Verified>();

  const verifyOnce = (token: string): Verified => {
    const [header = "", payload = "", signature = "", ...rest] = token.split(".");
    if (rest.length > 0 || token.length > tokenLengthMax) throw refused("is none");
    const { alg, kid } = parse(header);
    const key = keyOf.get(String(kid));
    if (alg !== "EdDSA" || !key) throw refused("is signed with a key that is not known here");
    if (!verify(null, Buffer.from(`${header}.${payload}`), key.publicKey, Buffer.from(signature, "base64url"))) {
      throw refused("is forged");
    }
    const { aud, iat, exp, ...caller } = parse(payload);
    if (aud !== audience) throw refused("is for another service");
    const madeAtMs = Number(iat) * 1_000;
    // Its maker says when it was made, and this side how long that may be ago.
    const endsAtMs = Math.min(Number(exp) * 1_000, madeAtMs + lifetimeMs);
    return { caller: caller as unknown as Caller, signsFor: key.signsFor, notBeforeMs: madeAtMs - clockSkewMs, endsAtMs };
  };

  return {
    /** The caller a token vouches for in a method; throws `unauthenticated`, saying why. */
    check(token: string | undefined, method: DescMethodUnary): Caller {
      if (!token) throw refused("is missing");
      let known = verified.get(token);
      if (!known) {
        known = verifyOnce(token);
        setBounded(verified, token, known, rememberedMax);
      }
      const now = nowMs();
      // Written so that a time which is no number refuses.
      if (!(now >= known.notBeforeMs && now < known.endsAtMs)) {
        throw refused("is too old or from the future: calls must not wait that long, and clocks must agree");
      }
      const { caller, signsFor } = known;
      if (caller.role === "nobody") throw refused("vouches for nobody");
      if (signsFor !== "anyone" && !(caller.role === "platform" && signsFor.includes(method))) {
        throw refused("is signed with a key that may not vouch for this");
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
  throw refused("is none");
}

const refused = (reason: string) => new ConnectError(`the caller's token ${reason}`, Code.Unauthenticated);
