import type { FastifyRequest } from "fastify";

/** What is skipped is read all the same. */
const cheapOffsetMax = 1_000;
/** Filters that look through many rows to find few. */
const costlyFilters = ["search", "created_from", "created_to", "from", "to"];

/** A POST that answers 201, by its own description. */
export function createsSomething({ method, routeOptions }: FastifyRequest): boolean {
  const response = routeOptions.schema?.response as Record<string, unknown> | undefined;
  return method === "POST" && response?.["201"] !== undefined;
}

/** A list whose filters cost much more than a page of it. */
export function isCostlyRead({ method, query }: FastifyRequest): boolean {
  if (method !== "GET") return false;
  const given = query as Record<string, unknown>;
  return Number(given["offset"] ?? 0) > cheapOffsetMax || costlyFilters.some((name) => given[name] !== undefined);
}
