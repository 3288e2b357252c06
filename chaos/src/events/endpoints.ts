import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import type { EventType } from "./emit-events.ts";
import type { Receiver } from "./receive-events.ts";

/** An endpoint that is registered. */
export interface Endpoint {
  readonly id: string;
  readonly businessId: string;
  /** The types that it asks for; none: all. */
  readonly types: readonly string[];
  readonly receiver: Receiver;
}

/** By business. The second verifies what comes, as the receiver's library does. */
const wanted: readonly (readonly (readonly EventType[])[])[] = [
  [[], []],
  [[], ["PAYMENT_REFUNDED"]],
  [[], [], []],
];

export const endpointsCount = wanted.flat().length;
const verifying = 1;

/** Businesses with endpoints, each at a receiver of its own. */
export async function registerEndpoints(system: System, receivers: readonly Receiver[]): Promise<Endpoint[]> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const endpoints: Endpoint[] = [];
  for (const ofBusiness of wanted) {
    const { body } = await operator("POST", "/api/v1/businesses", { name: "Épicerie" });
    const call = apiCaller(system.gatewayUrl, String(body["api_key"]));
    for (const types of ofBusiness) {
      const receiver = receivers[endpoints.length] as Receiver;
      const answer = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url, events: types });
      if (answer.status !== 201) throw new Error(`no endpoint could be made: ${answer.text}`);
      if (endpoints.length === verifying) receiver.secret = String(answer.body["secret"]);
      endpoints.push({ id: String(answer.body["id"]), businessId: String(body["id"]), types, receiver });
    }
  }
  return endpoints;
}
