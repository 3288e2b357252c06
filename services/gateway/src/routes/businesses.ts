import { BusinessForOperator, BusinessUpdate, businessStatuses, renderBusiness } from "@amana/public-api";
import { Type } from "typebox";
import { keyChangeTimeoutMs } from "../call.ts";
import { choice, flag, nameText, search } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

const business = { tag: "Operators", response: BusinessForOperator, render: renderBusiness } as const;

const name = () => nameText({ description: "Name of the business.", examples: ["Librairie El Kitab"] });

export async function businesses(app: App, { rpc: { businesses: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...business,
    rpc: rpc.createBusiness,
    summary: "Create a business",
    description: "Creates a business with its first API key. Only this response contains the plaintext `api_key`; store it.",
    body: {
      name: name(),
      status: Type.Optional(
        choice(["ACTIVE", "PENDING"], "Initial status, ACTIVE by default. Keys of a PENDING business are rejected."),
      ),
    },
  });

  addListRoute(app, "", {
    ...business,
    rpc: rpc.listBusinesses,
    summary: "List businesses",
    description: "Returns the businesses that match all filters, newest first.",
    filters: {
      status: choice(businessStatuses),
      search: search({ description: "Part of the name. Case is ignored." }),
    },
  });

  addReadRoute(app, "/:id", {
    ...business,
    rpc: rpc.getBusiness,
    summary: "Get a business",
    description: "Returns a business with its status and the prefix of its newest live key.",
  });

  addChangeRoute(app, "PATCH", "/:id", {
    ...business,
    rpc: rpc.updateBusiness,
    timeoutMs: keyChangeTimeoutMs,
    summary: "Update a business",
    description:
      "Changes the name or the status, or replaces the newest live key with `rotate_api_key`. Older live keys stay " +
      "valid. From the time of the response, a disabled business and a replaced key are rejected on all gateways. To " +
      "revoke a leaked key, use `POST /admin/api-keys/{id}/revoke`.",
    body: {
      name: name(),
      status: choice(businessStatuses),
      rotate_api_key: flag("Whether to replace the newest live key. The response contains the new `api_key`."),
    },
    response: BusinessUpdate,
    resource: BusinessForOperator,
  });
}
