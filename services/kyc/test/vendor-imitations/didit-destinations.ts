import { randomBytes, randomUUID } from "node:crypto";
import { type ImitationResponse, objectOf, type ReceivedRequest, type Route } from "./imitation-server.ts";

interface Destination {
  readonly uuid: string;
  readonly secret: string;
  label: string;
  url: string;
  enabled: boolean;
  events: readonly string[];
}

/**
 * Events to which a destination can subscribe. Page: https://docs.didit.me/integration/webhooks
 * (2026-11-28).
 */
const webhookEvents = new Set([
  "status.updated",
  "data.updated",
  "user.status.updated",
  "user.data.updated",
  "business.status.updated",
  "business.data.updated",
  "activity.created",
  "transaction.created",
  "transaction.status.updated",
  "travel_rule.status.updated",
]);

const destinationBody = ({ uuid, label, url, enabled, secret, events }: Destination) => ({
  uuid,
  label,
  url,
  enabled,
  webhook_version: "v3",
  secret_shared_key: secret,
  subscribed_events: events,
  created_at: "2026-05-17T10:00:00Z",
  updated_at: "2026-05-17T10:00:00Z",
  summary: {
    total_deliveries: 0,
    failed_deliveries: 0,
    error_rate_percentage: 0,
    min_response_time_ms: null,
    avg_response_time_ms: null,
    max_response_time_ms: null,
    last_delivery_at: null,
  },
});

/**
 * Validates the fields of a destination. Returns the documented response with status 400 if a field
 * is invalid.
 */
function refusalOf(body: Record<string, unknown>, others: readonly Destination[]): ImitationResponse | undefined {
  const badRequest = (field: string, message: string) => ({ status: 400, body: { [field]: [message] } });
  if (others.some(({ url }) => url === body["url"]))
    return badRequest("url", "This webhook destination already exists for the application.");
  const events = body["subscribed_events"];
  if (!Array.isArray(events)) return undefined;
  if (events.length === 0) return badRequest("subscribed_events", "At least one subscribed event is required.");
  const unknown = events.filter((event) => !webhookEvents.has(event));
  return unknown.length > 0 ? badRequest("subscribed_events", `Unsupported webhook events: ${unknown.join(", ")}`) : undefined;
}

/**
 * Routes under /v3/webhook/destinations/. Pages:
 * /management-api/webhook/{list,create,get,update,delete} (2026-11-28).
 */
export function destinationRoutes(): Route[] {
  const destinations = new Map<string, Destination>();
  const missing = { status: 404, body: { detail: "Webhook destination not found." } };
  const destinationPath = /^\/v3\/webhook\/destinations\/([^/]+)\/$/;
  const listPath = /^\/v3\/webhook\/destinations\/$/;
  const create = (request: ReceivedRequest): ImitationResponse => {
    const body = objectOf(request.body);
    for (const field of ["label", "url"])
      if (!body[field]) return { status: 400, body: { [field]: ["This field is required."] } };
    const refusal = refusalOf(body, [...destinations.values()]);
    if (refusal) return refusal;
    const destination: Destination = {
      uuid: randomUUID(),
      secret: randomBytes(32).toString("base64url"),
      label: String(body["label"]),
      url: String(body["url"]),
      enabled: body["enabled"] !== false,
      events: (body["subscribed_events"] as string[] | undefined) ?? [],
    };
    destinations.set(destination.uuid, destination);
    return { status: 201, body: destinationBody(destination) };
  };
  const update = (request: ReceivedRequest, uuid: string): ImitationResponse => {
    const destination = destinations.get(uuid);
    if (!destination) return missing;
    const body = objectOf(request.body);
    const refusal = refusalOf(
      body,
      [...destinations.values()].filter((item) => item !== destination),
    );
    if (refusal) return refusal;
    if (typeof body["label"] === "string") destination.label = body["label"];
    if (typeof body["url"] === "string") destination.url = body["url"];
    if (typeof body["enabled"] === "boolean") destination.enabled = body["enabled"];
    if (Array.isArray(body["subscribed_events"])) destination.events = body["subscribed_events"];
    return { status: 200, body: destinationBody(destination) };
  };
  return [
    {
      method: "GET",
      pattern: listPath,
      // The documented list omits the secret of each destination.
      handle: () => ({
        status: 200,
        body: [...destinations.values()].map((destination) => {
          const { secret_shared_key: _secret, summary: _summary, ...row } = destinationBody(destination);
          return {
            ...row,
            subscribed_events_count: row.subscribed_events.length,
            deliveries_count: 0,
            failed_deliveries_count: 0,
          };
        }),
      }),
    },
    { method: "POST", pattern: listPath, handle: create },
    {
      method: "GET",
      pattern: destinationPath,
      handle: (_request, uuid) => {
        const destination = destinations.get(uuid ?? "");
        return destination ? { status: 200, body: destinationBody(destination) } : missing;
      },
    },
    { method: "PATCH", pattern: destinationPath, handle: (request, uuid) => update(request, uuid ?? "") },
    {
      method: "DELETE",
      pattern: destinationPath,
      handle: (_request, uuid) => (destinations.delete(uuid ?? "") ? { status: 204 } : missing),
    },
  ];
}
