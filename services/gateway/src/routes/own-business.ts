import {
  BusinessForItself,
  BusinessForOperator,
  BusinessUpdate,
  OwnApiKey,
  renderBusiness,
  renderOwnApiKey,
} from "@amana/public-api";
import { onlyInRotation } from "../form/body.ts";
import { flag, integer, nameText } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { change, list, read } from "../operations.ts";

/** A rotation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;
const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

const business = { tags: ["Own business"], render: renderBusiness };

export async function ownBusiness(app: App, { rpc: { businesses: rpc } }: Gateway): Promise<void> {
  read(app, "", {
    ...business,
    rpc: rpc.getOwnBusiness,
    summary: "Read your own business",
    answer: BusinessForItself,
  });

  change(app, "PATCH", "", {
    ...business,
    rpc: rpc.updateOwnBusiness,
    timeoutMs: changeTimeoutMs,
    summary: "Rename your business, rotate the key you call with",
    description: "`previous_key_ttl_seconds` keeps the old key good for that long; it goes with `rotate_api_key: true` only.",
    body: {
      name: nameText(),
      rotate_api_key: flag(),
      previous_key_ttl_seconds: integer(0, previousKeyTtlSecondsMax),
    },
    answer: BusinessUpdate,
    whole: BusinessForOperator,
    ask: async (fields, { send }) => {
      onlyInRotation(fields, "previous_key_ttl_seconds", "rotate_api_key");
      return await send(fields);
    },
  });

  list(app, "/api-keys", {
    ...business,
    rpc: rpc.listOwnApiKeys,
    summary: "List your keys, newest first",
    answer: OwnApiKey,
    render: renderOwnApiKey,
  });
}
