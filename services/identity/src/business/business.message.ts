import { BusinessSchema } from "@amana/contracts/identity/v1/business_pb";
import { ListBusinessesRequestSchema } from "@amana/contracts/identity/v1/business_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { liveKeysSql } from "../api-key/live-keys.ts";
import { Business } from "./business.ts";

/** `apiKeyPrefix` is the prefix of the newest live key. */
export const businessView = defineView(Business, BusinessSchema, {
  expressions: {
    apiKeyPrefix: `(with live_key as materialized (${liveKeysSql("created_at, id, prefix", "business.id")})
    select prefix from live_key order by created_at desc, id desc limit 1)`,
  },
});

interface VisibleKey {
  /** Prefix of the newest live key. */
  readonly apiKeyPrefix?: string | null;
  /** The plaintext key. Only the response that issues the key may contain it. */
  readonly apiKey?: string;
}

/**
 * Returns the RPC message of a business. If `business` is an entity, the caller must pass
 * `apiKeyPrefix`; a row of `businessView` already contains the prefix.
 */
export const toBusinessMessage = (
  business: Omit<RowOf<typeof businessView>, "apiKeyPrefix"> & VisibleKey,
  { apiKeyPrefix, apiKey }: VisibleKey = business,
) => businessView.toMessage(business, { apiKeyPrefix: apiKeyPrefix ?? undefined, apiKey });

export const businessList = defineList(businessView, ListBusinessesRequestSchema, { search: { contains: "lower(name)" } });
