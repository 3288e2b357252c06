import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import type { Caller } from "@amana/rpc";
import type { onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import type { KeyAnswer } from "../key-lease/key-leases.ts";
import { presentedKeyHash } from "../key-lease/presented-key.ts";
import { Problem, problems, unauthorizedProblems } from "../problems.ts";
import { networkOf } from "../rate-limit/network.ts";
import { rateLimited } from "./limit-rate.ts";

const refusals: Readonly<Partial<Record<KeyState, () => Problem>>> = {
  [KeyState.UNKNOWN]: unauthorizedProblems.invalid,
  [KeyState.REVOKED]: unauthorizedProblems.revoked,
  [KeyState.EXPIRED]: unauthorizedProblems.expired,
  [KeyState.BUSINESS_PENDING]: unauthorizedProblems.businessPending,
  [KeyState.BUSINESS_REJECTED]: unauthorizedProblems.businessRejected,
  [KeyState.BUSINESS_DISABLED]: unauthorizedProblems.businessDisabled,
};

const wrongRole = { business: problems.businessKeyRequired, admin: problems.adminRequired } as const;

/** Lets in the holders of one role's keys: 401 for a key that opens nothing, then 403 for one of the other role. */
export function authenticate({ keys, limits, logger }: Gateway, role: "business" | "admin"): onRequestHookHandler {
  const admit = ({ state, caller }: KeyAnswer): Caller => {
    if (!caller) throw (refusals[state] ?? problems.unavailable)();
    return caller;
  };
  /** Guessing keys is slowed down by address; a key that works is let in from there all the same. */
  const slowedDown = (error: unknown, address: string): unknown => {
    if (!limits.failedAuth || !(error instanceof Problem) || error.status !== 401) return error;
    const draw = limits.failedAuth.draw(networkOf(address));
    return draw.allowed ? error : rateLimited(draw);
  };

  return (request, _reply, done) => {
    const enter = (answer: KeyAnswer) => {
      // Known also when the role is wrong, so that the log says whose key it was.
      request.caller = admit(answer);
      request.organizationId = answer.organizationId;
      if (request.caller.role !== role) throw wrongRole[role]();
    };
    let answer: KeyAnswer | Promise<KeyAnswer>;
    try {
      answer = keys.resolve(presentedKeyHash(request.raw));
      if (!(answer instanceof Promise)) {
        enter(answer);
        return done();
      }
    } catch (error) {
      return done(slowedDown(error, request.ip) as Error);
    }
    answer
      .catch((error: unknown) => {
        logger.warn({ err: error, request_id: request.id }, "a key could not be looked up");
        throw problems.unavailable();
      })
      .then(enter)
      .then(
        () => done(),
        (error: unknown) => done(slowedDown(error, request.ip) as Error),
      );
  };
}
