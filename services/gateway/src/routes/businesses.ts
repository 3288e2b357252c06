import { BusinessForOperator, BusinessUpdate, businessStatuses, renderBusiness } from "@amana/public-api";
import { Type } from "typebox";
import { choice, flag, nameText, search } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { change, create, list, read } from "../operations.ts";

/** Every change waits until it holds on all gateways, so it may take longer than a read. */
const changeTimeoutMs = 15_000;

const business = { tags: ["Businesses"], answer: BusinessForOperator, render: renderBusiness };

export async function businesses(app: App, { rpc: { businesses: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...business,
    rpc: rpc.createBusiness,
    summary: "Register a business",
    description: "The answer carries the plaintext `api_key`, once.",
    body: { name: nameText(), status: Type.Optional(choice(["ACTIVE", "PENDING"])) },
  });

  list(app, "", {
    ...business,
    rpc: rpc.listBusinesses,
    summary: "List businesses, newest first",
    filters: {
      status: choice(businessStatuses),
      search: search({ description: "Any part of the name, in any case." }),
    },
  });

  read(app, "/:id", { ...business, rpc: rpc.getBusiness, summary: "Read a business" });

  change(app, "PATCH", "/:id", {
    ...business,
    rpc: rpc.updateBusiness,
    timeoutMs: changeTimeoutMs,
    summary: "Rename a business, change its status, rotate its key",
    description:
      "Rotation replaces the newest live key; older ones go on working. A key that leaked is revoked by its id: " +
      "`POST /admin/api-keys/{id}/revoke`. Disabling and rotating hold from the moment of the answer.",
    body: { name: nameText(), status: choice(businessStatuses), rotate_api_key: flag() },
    answer: BusinessUpdate,
    whole: BusinessForOperator,
  });
}
