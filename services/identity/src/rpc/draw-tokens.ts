import type { RateLimitService } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { atMostEvery } from "@amana/runtime";
import type { Context } from "../context.ts";
import { deleteFullBuckets, drawFromBuckets } from "../token-bucket/queries.ts";

const cleanupIntervalMs = 60_000;

/** Draws tokens from the buckets that all gateways share. */
export const drawTokens = ({ orm, logger }: Context): Implementation<typeof RateLimitService.method.drawTokens> => {
  const cleanUp = atMostEvery(cleanupIntervalMs, () =>
    deleteFullBuckets(orm.em.fork()).catch((error) =>
      logger.warn({ err: error }, "full rate-limit buckets not deleted, retry after a minute"),
    ),
  );
  return async ({ draws }, { caller }) => {
    requirePlatform(caller);
    const tokensLeft = await drawFromBuckets(orm.em.fork(), draws);
    void cleanUp();
    return { left: draws.map(({ bucket }) => tokensLeft.get(bucket) ?? 0) };
  };
};
