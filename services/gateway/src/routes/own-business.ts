import {
  BusinessForItself,
  BusinessForOperator,
  BusinessUpdate,
  OwnApiKey,
  OwnApiKeyCreation,
  OwnApiKeyRevocation,
  renderBusiness,
  renderOwnApiKey,
} from "@amana/public-api";
import { Type } from "typebox";
import { keyChangeTimeoutMs } from "../call.ts";
import { requireRotation } from "../form/body.ts";
import { flag, integer, nameText, text } from "../form/fields.ts";
import { keyLimits } from "../form/key-limits.ts";
import type { App, Gateway } from "../gateway.ts";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { addActionRoute, addChangeRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

const business = { tag: "Business", render: renderBusiness } as const;

export async function ownBusiness(app: App, { rpc: { businesses: rpc } }: Gateway): Promise<void> {
  addReadRoute(app, "", {
    ...business,
    rpc: rpc.getOwnBusiness,
    summary: "Get your business",
    description:
      "Returns your business. `api_key_prefix` belongs to the newest live key, which is not necessarily the key of this request.",
    response: BusinessForItself,
  });

  addChangeRoute(app, "PATCH", "", {
    ...business,
    rpc: rpc.updateOwnBusiness,
    timeoutMs: keyChangeTimeoutMs,
    summary: "Update your business",
    description:
      "Changes the name, or replaces the key of this request with `rotate_api_key`. The new key keeps name, `expires_at` and " +
      "`allowed_ips`, and only this response contains its plaintext. If the response is lost and you have no other key, an " +
      "operator must issue one. To replace a key safely, use two steps: issue a key with `POST /api/v1/me/api-keys`, then, " +
      "when your servers use it, revoke the old key with `POST /api/v1/me/api-keys/{id}/revoke`.",
    body: {
      name: nameText({ description: "Name of the business.", examples: ["Librairie El Kitab"] }),
      rotate_api_key: flag("Whether to replace the key of this request. The response contains the new `api_key`."),
      previous_key_ttl_seconds: integer(0, previousKeyTtlSecondsMax, {
        description: "Seconds for which the replaced key stays valid, 0 by default. Requires `rotate_api_key`.",
      }),
    },
    response: BusinessUpdate,
    resource: BusinessForOperator,
    execute: async (fields, { send }) => {
      requireRotation(fields, "previous_key_ttl_seconds", "rotate_api_key");
      return await send(fields);
    },
  });

  addListRoute(app, "/api-keys", {
    ...business,
    rpc: rpc.listOwnApiKeys,
    summary: "List your API keys",
    description: "Returns the API keys of your business without their plaintext, newest first.",
    response: OwnApiKey,
    render: renderOwnApiKey,
  });

  addCreateRoute(app, "/api-keys", {
    ...business,
    rpc: rpc.createOwnApiKey,
    summary: "Issue an API key",
    description:
      "Issues another API key for your business. Only this response contains the plaintext `api_key`; store it. If the " +
      "response is lost, issue a key with another name and revoke this one. A key with `expires_at` or `allowed_ips` cannot " +
      "issue a key with wider limits (422 `api_key_limits_exceeded`).",
    body: {
      name: nameText({ description: "Name of the key; unique among your live keys.", examples: ["checkout 2027"] }),
      ...keyLimits(),
    },
    response: OwnApiKeyCreation,
    render: renderOwnApiKey,
    // An API key has no URL of its own, so Location is the list that contains it.
    location: () => "/api/v1/me/api-keys",
    execute: ({ allowed_ips, ...fields }, { send }) => send({ ...fields, allowed_ips: allowed_ips?.map(canonicalCidr) }),
  });

  addActionRoute(app, "/api-keys/:id/revoke", {
    ...business,
    rpc: rpc.revokeOwnApiKey,
    timeoutMs: keyChangeTimeoutMs,
    summary: "Revoke an API key",
    description:
      "Revokes an API key of your business. From the time of the response, all gateways reject the key. A repeated " +
      "revocation changes nothing. Fails with 409 `api_key_in_use` for the key of this request.",
    body: { reason: Type.Optional(text(500, { description: "Reason, stored in the audit trail." })) },
    response: OwnApiKeyRevocation,
    render: renderOwnApiKey,
  });
}
