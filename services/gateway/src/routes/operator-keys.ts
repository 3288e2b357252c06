import { OperatorKey, OperatorKeyCreation, renderOperatorKey } from "@amana/public-api";
import { Type } from "typebox";
import { nameText, text } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, create, list } from "../operations.ts";

/** A revocation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;

const operatorKey = { tags: ["Operator keys"], render: renderOperatorKey };

export async function operatorKeys(app: App, { rpc: { operatorKeys: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...operatorKey,
    rpc: rpc.createOperatorKey,
    summary: "Issue a named key for an operator",
    description: "The answer carries the plaintext `admin_key`, once. No two live ones have the same name.",
    body: { name: nameText({ examples: ["amina, on call"] }) },
    answer: OperatorKeyCreation,
    // A key has no address of its own to read it at; this one lists it.
    location: () => "/api/v1/admin/operator-keys",
  });

  list(app, "", {
    ...operatorKey,
    rpc: rpc.listOperatorKeys,
    summary: "List operators' keys, newest first",
    answer: OperatorKey,
  });

  act(app, "/:id/revoke", {
    ...operatorKey,
    rpc: rpc.revokeOperatorKey,
    timeoutMs: changeTimeoutMs,
    summary: "Revoke an operator's key",
    description:
      "Holds everywhere from the moment of the answer. Revoking again changes nothing. The last live one stays (409 " +
      "`last_operator_key`). The deployment's first key, `bootstrap`, is revoked like any other and does not come back.",
    body: { reason: Type.Optional(text(500)) },
    answer: OperatorKey,
  });
}
