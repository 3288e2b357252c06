import type { FastifyRequest } from "fastify";

/** PostgreSQL reads the rows that an offset skips, so a larger offset makes a list costly. */
const cheapOffsetMax = 1_000;
/** Filters for which PostgreSQL may have to read many rows to find a few rows. */
const costlyFilters = ["search", "created_from", "created_to", "from", "to"];

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

/** Returns whether the request is a list with costly filters or a large offset. */
export function isCostlyRead(request: FastifyRequest): boolean {
  if (!isRead(request)) return false;
  const parameters = request.query as Record<string, unknown>;
  return Number(parameters["offset"] ?? 0) > cheapOffsetMax || costlyFilters.some((name) => parameters[name] !== undefined);
}
