import { type Static, Type } from "typebox";
import { BareEventJson } from "./bare-event.ts";

export const EndpointDisabledEventJson = Type.Object({
  ...BareEventJson.properties,
  event: Type.String({ examples: ["WEBHOOK_ENDPOINT_DISABLED"] }),
  endpoint_id: Type.String({ format: "uuid" }),
  url: Type.String({ examples: ["https://shop.example/webhooks/amana"] }),
  reason: Type.Enum(["GONE", "FAILING"], {
    description: "GONE: it answered 410. FAILING: nothing but failures for five days.",
  }),
});

export type EndpointDisabledReason = Static<typeof EndpointDisabledEventJson>["reason"];

/** The body as it is stored and sent. */
export const renderEndpointDisabled = ({ id, ...event }: Omit<Static<typeof EndpointDisabledEventJson>, "event">): string =>
  JSON.stringify({ id, event: "WEBHOOK_ENDPOINT_DISABLED", ...event });
