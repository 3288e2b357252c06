import { BusinessForItself, BusinessUpdate, OwnApiKey, renderBusiness, renderOwnApiKey } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { flag, integer, nameText } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { problems } from "../problems.ts";

const tags = ["Own business"];
/** A rotation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;
const previousKeyTtlSecondsMax = 7 * 24 * 60 * 60;

export const ownBusiness =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "getOwnBusiness",
          summary: "Read your own business",
          response: { 200: BusinessForItself },
        },
      },
      async (request, reply) => renderBusiness(await rpc.businesses.getOwnBusiness({}, callOf(request, reply))),
    );

    app.patch(
      "",
      {
        schema: {
          tags,
          operationId: "updateOwnBusiness",
          summary: "Rename your business, rotate the key you call with",
          description:
            "`previous_key_ttl_seconds` keeps the old key good for that long; it goes with `rotate_api_key: true` only.",
          body: bodyOf(
            {
              name: Type.Optional(nameText()),
              rotate_api_key: Type.Optional(flag()),
              previous_key_ttl_seconds: Type.Optional(integer(0, previousKeyTtlSecondsMax)),
            },
            { immutable: ["id", "status", "created_at", "updated_at", "organization_id", "api_key", "api_key_prefix"] },
          ),
          response: { 200: BusinessUpdate },
        },
      },
      async (request, reply) => {
        const { name, rotate_api_key, previous_key_ttl_seconds } = request.body;
        if (previous_key_ttl_seconds !== undefined && !rotate_api_key) {
          const message = "is for a rotation; send rotate_api_key: true with it";
          throw problems.validationFailed([{ pointer: "/previous_key_ttl_seconds", code: "invalid", message }]);
        }
        const business = await rpc.businesses.updateOwnBusiness(
          { name, rotateApiKey: rotate_api_key, previousKeyTtlSeconds: previous_key_ttl_seconds },
          callOf(request, reply, changeTimeoutMs),
        );
        return renderBusiness(business);
      },
    );

    app.get(
      "/api-keys",
      {
        schema: {
          tags,
          operationId: "listOwnApiKeys",
          summary: "List your keys, newest first",
          querystring: Type.Object(pageParameters()),
          response: { 200: Type.Array(OwnApiKey) },
        },
      },
      async (request, reply) => {
        const { limit, offset } = request.query;
        const page = await rpc.businesses.listOwnApiKeys({ limit, offset }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.apiKeys.map(renderOwnApiKey);
      },
    );
  };
