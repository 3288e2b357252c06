import { createHmac } from "node:crypto";
import type { FastifyRequest, preHandlerHookHandler } from "fastify";
import { routeOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { Problem } from "../problem.ts";

export const idempotencyKeyPattern = "^[\\x21-\\x7e]{1,255}$";
const keyPattern = new RegExp(idempotencyKeyPattern);

/** Takes the Idempotency-Key of a POST, after the form of the request was found good. */
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
 * Stands for what was sent where. Services keep it for a day, and a body may say who somebody is:
 * without the secret nobody can find out by trying whether a guess is right.
 */
function fingerprintOf(request: FastifyRequest, secret: Uint8Array): string {
  const [path = ""] = request.url.split("?", 1);
  return createHmac("sha256", secret)
    .update(`${path}\n`)
    .update(request.bodyBytes ?? "")
    .digest("hex");
}
