import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import { aboutRequest } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import type { KeyAnswer } from "../key-lease/api-key-cache.ts";
import { presentedKeyHash } from "../key-lease/presented-key.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";
import { networkOf } from "../rate-limit/network.ts";
import { hasBody } from "./bound-bytes.ts";
import { limitBusiness, rateLimited } from "./limit-rate.ts";

const refusals: Readonly<Partial<Record<KeyState, ProblemCode>>> = {
  [KeyState.UNKNOWN]: "invalid_api_key",
  [KeyState.REVOKED]: "api_key_revoked",
  [KeyState.EXPIRED]: "api_key_expired",
  [KeyState.BUSINESS_PENDING]: "business_pending",
  [KeyState.BUSINESS_REJECTED]: "business_rejected",
  [KeyState.BUSINESS_DISABLED]: "business_disabled",
};

const wrongRole = { business: "business_key_required", admin: "admin_required" } as const;

/**
 * Authenticates holders of keys of one role. Rejects an invalid key with 401, then a business
 * beyond its rate with 429, then an address that is not allowed or a key of the other role with
 * 403. Looks the key up when the headers have arrived. Looks it up again after the body if the
 * first lookup is too old by then, so that the key was valid when the request was whole.
 */
export function authenticate(scope: App, gateway: Gateway, role: "business" | "admin"): void {
  const { keys, logger } = gateway;

  const enter = (request: FastifyRequest, reply: FastifyReply, answer: KeyAnswer) => {
    const { state, caller, organizationId, allows } = answer;
    if (!caller) throw Problem.of(refusals[state] ?? "service_unavailable");
    // Known also when it is refused, so that the log says whose key it was.
    const isFirstLook = request.caller === null;
    request.caller = caller;
    request.organizationId = organizationId;
    request.keyAnswer = answer;
    // Requests that are rejected below count too, because they have cost a lookup.
    if (isFirstLook) limitBusiness(gateway, request, reply);
    if (allows && !allows(request.ip)) throw Problem.of("address_not_allowed");
    if (caller.role !== role) throw Problem.of(wrongRole[role]);
  };
  const slowedDown = slowGuessing(gateway);

  const look: onRequestHookHandler = (request, reply, done) => {
    let answer: KeyAnswer | Promise<KeyAnswer>;
    try {
      answer = keys.resolve(presentedKeyHash(request.raw));
      if (!(answer instanceof Promise)) {
        enter(request, reply, answer);
        return done();
      }
    } catch (error) {
      return done(slowedDown(error, request.ip) as Error);
    }
    answer
      .catch((error: unknown) => {
        logger.warn({ err: error, ...aboutRequest(request) }, "a key could not be looked up");
        throw Problem.of("service_unavailable");
      })
      .then((found) => enter(request, reply, found))
      .then(
        () => done(),
        (error: unknown) => done(slowedDown(error, request.ip) as Error),
      );
  };
  const lookAgain: preValidationHookHandler = function (request, reply, done) {
    if (!hasBody(request.raw) || (request.keyAnswer && keys.isGood(request.keyAnswer))) return done();
    look.call(this, request, reply, done);
  };

  scope.addHook("onRequest", look);
  scope.addHook("preValidation", lookAgain);
}

/** Guessing is slowed down by address; what works is let in from there all the same. */
export function slowGuessing({ limits }: Gateway): (error: unknown, address: string) => unknown {
  return (error, address) => {
    if (!limits.failedAuth || !(error instanceof Problem) || error.status !== 401) return error;
    const draw = limits.failedAuth.draw(networkOf(address));
    return draw.allowed ? error : rateLimited("failed_auth", draw);
  };
}
