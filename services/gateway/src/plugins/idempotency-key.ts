import { createHmac } from "node:crypto";
import type { FastifyRequest, preHandlerHookHandler } from "fastify";
import { routeOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { Problem } from "../problem.ts";

export const idempotencyKeyPattern = "^[\\x21-\\x7e]{1,255}$";
const keyPattern = new RegExp(idempotencyKeyPattern);

/** Reads the Idempotency-Key of a POST, after the request has passed validation. */
export const takeIdempotencyKey =
  ({ fingerprintKeys }: Gateway): preHandlerHookHandler =>
  (request, _reply, done) => {
    const key = request.headers["idempotency-key"];
    if (request.method !== "POST" || key === undefined) return done();
    if (typeof key !== "string" || !keyPattern.test(key)) return done(Problem.of("invalid_idempotency_key"));
    const [fingerprint = "", otherFingerprint] = fingerprintKeys.map((secret) => fingerprintOf(request, secret));
    request.idempotencyKey = { key, route: routeOf(request), fingerprint, otherFingerprint };
    done();
  };

/**
 * Returns an HMAC of path and body. Services store the HMAC for a day. A body may contain personal
 * data, and a plain hash would allow any reader of the hash to test guesses of the body.
 */
function fingerprintOf(request: FastifyRequest, secret: Uint8Array): string {
  const [path = ""] = request.url.split("?", 1);
  return createHmac("sha256", secret)
    .update(`${path}\n`)
    .update(request.bodyBytes ?? "")
    .digest("hex");
}
