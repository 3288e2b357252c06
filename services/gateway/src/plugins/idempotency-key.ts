import type { preHandlerHookHandler } from "fastify";
import { problems } from "../problems.ts";

const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** Takes the Idempotency-Key of a POST, after the form of the request was found good. */
export const takeIdempotencyKey: preHandlerHookHandler = (request, _reply, done) => {
  const key = request.headers["idempotency-key"];
  if (request.method !== "POST" || key === undefined) return done();
  if (typeof key !== "string" || !keyPattern.test(key)) return done(problems.invalidIdempotencyKey());
  request.idempotencyKey = key;
  done();
};
