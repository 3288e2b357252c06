import { counter, gauge, histogram } from "@amana/runtime";

const route = "the routes of the API, or none for an unknown path";
const method = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"] as const;

/** Returns the label value of a method. Unknown methods share one value. */
export const methodOf = (name: string) => method.find((known) => known === name) ?? "other";

export const requests = counter({
  name: "amana_http_requests_total",
  help: "Finished requests",
  labels: { method, route, status: "the HTTP status codes" },
});

export const requestDuration = histogram({
  name: "amana_http_request_duration_seconds",
  help: "Time from the arrival of the request headers to the end of the response",
  labels: { method, route },
});

export const requestsInFlight = gauge({
  name: "amana_http_requests_under_way",
  help: "Requests in flight that count towards REQUESTS_AT_ONCE_MAX",
});
requestsInFlight.set(0);

export const bytesAtOnce = gauge({
  name: "amana_http_bytes_at_once",
  help: "Bytes of request bodies and unsent responses in memory that count towards BYTES_AT_ONCE_MAX",
});
bytesAtOnce.set(0);

export const openConnections = gauge({ name: "amana_http_connections", help: "Open connections of callers and proxies" });
openConnections.set(0);

export const connectionsEnded = counter({
  name: "amana_http_connections_ended_total",
  help: "Connections closed by the gateway. chunks: too many small chunks of a body; flood: too many connections and requests without a valid key of a network; network: too many open connections of a network; pipelined: too many unanswered requests; stalled: a response without progress",
  labels: { reason: ["chunks", "flood", "network", "pipelined", "stalled"] },
});

export const requestsShed = counter({
  name: "amana_http_requests_shed_total",
  help: "Requests rejected with status 503 and code overloaded: too many at once, a full bulkhead, too many without a key, or too many bytes",
  labels: { bound: ["at_once", "bulkhead", "keyless", "bytes"] },
});

/** Limits of a business or a network. */
const limits = [
  "business",
  "failed_auth",
  "kyc",
  "refund",
  "creation",
  "search",
  "keyless",
  "checkout",
  "checkout_link",
  "at_once",
  "bytes",
] as const;
export type Limit = (typeof limits)[number];

export const rateLimitRefusals = counter({
  name: "amana_rate_limit_refusals_total",
  help: "Requests rejected with status 429, by the limit that the caller exceeded",
  labels: { limit: limits },
});

export const drawReports = counter({
  name: "amana_rate_limit_draws_total",
  help: "Reports to the shared counters about requests that this gateway accepted. lost: the report failed, so other gateways may not count the requests",
  labels: { outcome: ["shared", "lost"] },
});

export const keyResolutions = counter({
  name: "amana_key_resolutions_total",
  help: "API keys of requests, by where they were resolved: from a cached lease or by identity",
  labels: { from: ["lease", "identity"] },
});

export const keyLeases = gauge({
  name: "amana_key_leases",
  help: "API keys in this gateway's cache, including keys whose lease has ended; 10000 at most",
});
keyLeases.set(0);
