import type { FastifyRequest } from "fastify";

/** PostgreSQL reads the rows that an offset skips, so a larger offset makes a list costly. */
const cheapOffsetMax = 1_000;
/** Filters for which PostgreSQL may have to read many rows to find a few rows. */
const costlyFilters = [
  "search",
  ...["created_from", "created_to", "from", "to"],
  // Each index contains only the rows with one of the two values.
  ...["blocked", "is_blacklisted", "display"],
  // The index contains the order of the list, but PostgreSQL may read and sort all rows with the
  // address.
  "customer_email",
];

/**
 * Returns whether the request is a GET or a HEAD. For a HEAD, Fastify runs the handler of the GET
 * route.
 */
export const isRead = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** Returns whether the request is a POST whose schema has a 201 response. */
export function isCreation({ method, routeOptions }: FastifyRequest): boolean {
  const response = routeOptions.schema?.response as Record<string, unknown> | undefined;
  return method === "POST" && response?.["201"] !== undefined;
}

/**
 * Returns whether the request is a list with costly filters, several filters or a large offset. If
 * many rows match each of two filters but few rows match both, PostgreSQL reads all rows of a
 * filter.
 */
export function isCostlyRead(request: FastifyRequest): boolean {
  if (!isRead(request)) return false;
  const { config, schema } = request.routeOptions;
  const parameters = request.query as Record<string, unknown>;
  const isList = "limit" in ((schema?.querystring as { properties?: object } | undefined)?.properties ?? {});
  const filters = Object.keys(parameters).filter((name) => name !== "limit" && name !== "offset");
  if (isList && filters.length > (config.hasCostlyFilters ? 0 : 1)) return true;
  return Number(parameters["offset"] ?? 0) > cheapOffsetMax || costlyFilters.some((name) => parameters[name] !== undefined);
}
