import type { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { atMostEvery } from "@amana/runtime";
import type { Context } from "../context.ts";
import { forgetFullBuckets, takeTokens } from "../token-bucket/queries.ts";

const forgettingMs = 60_000;

/** Counts together what several gateways let through. */
export const drawTokens = ({ orm, logger }: Context): Implementation<typeof RateLimitService.method.drawTokens> => {
  const forget = atMostEvery(forgettingMs, () =>
    forgetFullBuckets(orm.em.fork()).catch((error) => logger.warn({ err: error }, "full buckets could not be forgotten")),
  );
  return async ({ draws }, { caller }) => {
    requirePlatform(caller);
    const left = await takeTokens(orm.em.fork(), draws);
    void forget();
    return { left: draws.map(({ bucket }) => left.get(bucket) ?? 0) };
  };
};
