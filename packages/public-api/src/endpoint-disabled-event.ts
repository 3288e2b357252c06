import { type Static, Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";

export const EndpointDisabledEventJson = Type.Object({
  ...BareEventJson.properties,
  event: Type.String({ examples: ["WEBHOOK_ENDPOINT_DISABLED"] }),
  endpoint_id: Type.String({ format: "uuid", description: "The disabled endpoint." }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  reason: Type.Enum(["GONE", "FAILING"], {
    description: "GONE: the endpoint returned 410. FAILING: all attempts failed for five days.",
  }),
});

export type EndpointDisabledReason = Static<typeof EndpointDisabledEventJson>["reason"];

/** Renders the body of the event as JSON text. The text is stored and signed unchanged. */
export const renderEndpointDisabled = ({ id, ...event }: Omit<Static<typeof EndpointDisabledEventJson>, "event">): string =>
  JSON.stringify({ id, event: "WEBHOOK_ENDPOINT_DISABLED", ...event });
