import { counter, gauge, histogram } from "@amana/runtime";

const route = "the routes of the API, and none for an address that is not there";
const method = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"] as const;

export const methodOf = (given: string) => method.find((known) => known === given) ?? "other";

export const requests = counter({
  name: "amana_http_requests_total",
  help: "Requests that were answered",
  labels: { method, route, status: "the statuses of HTTP" },
});

export const requestDuration = histogram({
  name: "amana_http_request_duration_seconds",
  help: "How long answers took, from when the request's headers were there",
  labels: { method, route },
});

export const requestsUnderWay = gauge({
  name: "amana_http_requests_under_way",
  help: "Requests that are being answered now, of those that count towards REQUESTS_AT_ONCE_MAX",
});
requestsUnderWay.set(0);

export const bytesAtOnce = gauge({
  name: "amana_http_bytes_at_once",
  help: "Bytes of request bodies and unsent responses in memory that count towards BYTES_AT_ONCE_MAX",
});
bytesAtOnce.set(0);

export const openConnections = gauge({ name: "amana_http_connections", help: "Open connections of clients and proxies" });
openConnections.set(0);

export const connectionsEnded = counter({
  name: "amana_http_connections_ended_total",
  help: "Connections closed by the gateway: too many of one network, too many pipelined requests or small chunks, or a response without progress",
  labels: { reason: ["chunks", "network", "pipelined", "stalled"] },
});

export const requestsShed = counter({
  name: "amana_http_requests_shed_total",
  help: "Requests rejected with 503 overloaded: too many at once, a full bulkhead, too many without a key, or too many bytes",
  labels: { bound: ["at_once", "bulkhead", "keyless", "bytes"] },
});

/** What a business, or a network, can run into. */
const limits = ["business", "failed_auth", "kyc", "refund", "creation", "search", "keyless", "at_once", "bytes"] as const;
export type Limit = (typeof limits)[number];

export const rateLimitRefusals = counter({
  name: "amana_rate_limit_refusals_total",
  help: "Requests refused with 429, by the limit that their caller ran into",
  labels: { limit: limits },
});

export const sharedDraws = counter({
  name: "amana_rate_limit_draws_total",
  help: "Times this gateway told the others what it let through; what is lost it alone has counted",
  labels: { outcome: ["shared", "lost"] },
});

export const keyResolutions = counter({
  name: "amana_key_resolutions_total",
  help: "Keys that requests came with, by where the answer came from whose they are",
  labels: { from: ["lease", "identity"] },
});

export const keyLeases = gauge({
  name: "amana_key_leases",
  help: "Keys that this gateway believes, or has believed, on a lease; 10000 at most",
});
keyLeases.set(0);
