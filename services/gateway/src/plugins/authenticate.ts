import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from "fastify";
import { requestLogFields } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import type { ResolvedKey } from "../key-lease/api-key-cache.ts";
import { presentedKeyHash } from "../key-lease/presented-key.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";
import { networkOf } from "../rate-limit/network.ts";
import { hasBody } from "./bound-bytes.ts";
import { drawTokens, limitBusiness } from "./limit-rate.ts";

const problemCodes: Readonly<Partial<Record<KeyState, ProblemCode>>> = {
  [KeyState.UNKNOWN]: "invalid_api_key",
  [KeyState.REVOKED]: "api_key_revoked",
  [KeyState.EXPIRED]: "api_key_expired",
  [KeyState.BUSINESS_PENDING]: "business_pending",
  [KeyState.BUSINESS_REJECTED]: "business_rejected",
  [KeyState.BUSINESS_DISABLED]: "business_disabled",
};

const wrongRoleCodes = { business: "business_key_required", admin: "admin_required" } as const;

/**
 * Number of tokens that a request takes from its network if it exceeds the rate limit of its
 * business, or if the look-up of its key failed. It is less than one, so that a business that
 * exceeds its rate limit several times still gets status 429, and the gateway does not close its
 * connections. The same applies to status 503 while identity is unreachable.
 */
const rejectedTokens = 1 / 4;

/**
 * Authenticates requests with the keys of one role. Checks in this order: the key is valid (status
 * 401), the business is within its rate limit (status 429), the caller's address is permitted and
 * the key has the role (status 403). Resolves the key when the headers have arrived. If this result
 * is too old when the body has arrived, resolves the key again, because the key must be valid when
 * the whole request has arrived.
 */
export function authenticate(scope: App, gateway: Gateway, role: "business" | "admin"): void {
  const { connections, keys, logger } = gateway;

  const admit = (request: FastifyRequest, reply: FastifyReply, key: ResolvedKey) => {
    const { state, caller, allows } = key;
    if (!caller) throw Problem.of(problemCodes[state] ?? "service_unavailable");
    // `caller` is set before the checks below, so that the log of a rejected request contains its
    // key prefix.
    const isFirstCheck = request.caller === null;
    request.caller = caller;
    request.resolvedKey = key;
    // Also counts the requests that are rejected below, because these requests have caused a key
    // look-up.
    if (isFirstCheck) {
      connections.uncount(request.raw);
      const problem = limitBusiness(gateway, request, reply);
      if (problem) {
        connections.count(request.raw.socket, rejectedTokens);
        throw problem;
      }
    }
    if (allows && !allows(request.ip)) throw Problem.of("address_not_allowed");
    if (caller.role !== role) throw Problem.of(wrongRoleCodes[role]);
  };
  const checkKey: onRequestHookHandler = (request, reply, done) => {
    let key: ResolvedKey | Promise<ResolvedKey>;
    try {
      key = keys.resolve(presentedKeyHash(request.raw));
      if (!(key instanceof Promise)) {
        admit(request, reply, key);
        return done();
      }
    } catch (error) {
      return done(limitFailure(gateway, error, request.ip) as Error);
    }
    key
      .catch((error: unknown) => {
        connections.uncount(request.raw);
        connections.count(request.raw.socket, rejectedTokens);
        logger.warn({ err: error, ...requestLogFields(request) }, "API key look-up failed");
        throw Problem.of("service_unavailable");
      })
      .then((resolved) => admit(request, reply, resolved))
      .then(
        () => done(),
        (error: unknown) => done(limitFailure(gateway, error, request.ip) as Error),
      );
  };
  const checkKeyAfterBody: preValidationHookHandler = function (request, reply, done) {
    if (!hasBody(request.raw) || (request.resolvedKey && keys.isFresh(request.resolvedKey))) return done();
    checkKey.call(this, request, reply, done);
  };

  scope.addHook("onRequest", checkKey);
  scope.addHook("preValidation", checkKeyAfterBody);
}

/**
 * Throws a Problem if the key of the request is no longer valid. The handler of a long response
 * calls this function before each page, so that a revocation ends the response before its next
 * page.
 */
export async function requireValidKey({ keys }: Gateway, request: FastifyRequest): Promise<void> {
  const { state, caller, allows } = await keys.resolve(presentedKeyHash(request.raw));
  if (!caller) throw Problem.of(problemCodes[state] ?? "service_unavailable");
  if (allows && !allows(request.ip)) throw Problem.of("address_not_allowed");
}

/**
 * Counts a failed authentication (status 401) and returns the error to send: `error`, or a problem
 * with status 429 after too many failures from one network. Valid keys from that network are still
 * accepted. Returns all other errors unchanged.
 */
export function limitFailure({ limits }: Gateway, error: unknown, address: string): unknown {
  if (!(error instanceof Problem) || error.status !== 401) return error;
  return drawTokens(limits.failedAuth, "failed_auth", networkOf(address)) ?? error;
}
