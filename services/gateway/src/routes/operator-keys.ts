import { OperatorKey, OperatorKeyCreation, renderOperatorKey } from "@amana/public-api";
import { Type } from "typebox";
import { keyChangeTimeoutMs } from "../call.ts";
import { nameText, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addCreateRoute, addListRoute } from "../operations.ts";

const operatorKey = { tag: "Operators", render: renderOperatorKey } as const;

export async function operatorKeys(app: App, { rpc: { operatorKeys: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...operatorKey,
    rpc: rpc.createOperatorKey,
    summary: "Issue an operator key",
    description: "Issues a key for an operator. Only this response contains the plaintext `admin_key`; store it.",
    body: { name: nameText({ description: "Name of the key; unique among live operator keys.", examples: ["amina, on call"] }) },
    response: OperatorKeyCreation,
    // An operator key has no URL of its own, so Location is the list that contains it.
    location: () => "/api/v1/admin/operator-keys",
  });

  addListRoute(app, "", {
    ...operatorKey,
    rpc: rpc.listOperatorKeys,
    summary: "List operator keys",
    description: "Returns all operator keys without their plaintext, newest first.",
    response: OperatorKey,
  });

  addActionRoute(app, "/:id/revoke", {
    ...operatorKey,
    rpc: rpc.revokeOperatorKey,
    timeoutMs: keyChangeTimeoutMs,
    summary: "Revoke an operator key",
    description:
      "Revokes an operator key. From the time of the response, all gateways reject the key. A repeated revocation changes " +
      "nothing. Fails with 409 `last_operator_key` for the last live key. The key `bootstrap` of the deployment can be " +
      "revoked, too; a restart does not restore it.",
    body: { reason: Type.Optional(text(500, { description: "Reason, stored in the audit trail." })) },
    response: OperatorKey,
  });
}
