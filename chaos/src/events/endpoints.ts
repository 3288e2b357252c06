import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import type { EventType } from "./emit-events.ts";
import type { Receiver } from "./start-receivers.ts";

/** A registered endpoint. */
export interface Endpoint {
  readonly id: string;
  readonly businessId: string;
  /** Event types to which the endpoint is subscribed. An empty list means all types. */
  readonly types: readonly string[];
  readonly receiver: Receiver;
}

/** For each business, the subscribed event types of each of its endpoints. */
const typesByBusiness: readonly (readonly (readonly EventType[])[])[] = [
  [[], []],
  [[], ["PAYMENT_REFUNDED"]],
  [[], [], []],
];

export const endpointsCount = typesByBusiness.flat().length;
/** Index of the endpoint that verifies signatures with the client library. */
const verifyingEndpoint = 1;

/** Creates the businesses and registers one endpoint for each receiver. */
export async function registerEndpoints(system: System, receivers: readonly Receiver[]): Promise<Endpoint[]> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const endpoints: Endpoint[] = [];
  for (const typesOfEndpoints of typesByBusiness) {
    const { body } = await operator("POST", "/api/v1/businesses", { name: "Épicerie" });
    const call = apiCaller(system.gatewayUrl, String(body["api_key"]));
    for (const types of typesOfEndpoints) {
      const receiver = receivers[endpoints.length] as Receiver;
      const response = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url, events: types });
      if (response.status !== 201) throw new Error(`the endpoint could not be created: ${response.text}`);
      if (endpoints.length === verifyingEndpoint) receiver.secret = String(response.body["secret"]);
      endpoints.push({ id: String(response.body["id"]), businessId: String(body["id"]), types, receiver });
    }
  }
  return endpoints;
}
