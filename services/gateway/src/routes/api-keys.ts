import { ApiKeyCreation, ApiKeyForOperator, ApiKeyRevocation, renderApiKey } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { nameText, text, uuid } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["API keys"];
/** A revocation waits until it holds on all gateways. */
const changeTimeoutMs = 15_000;

export const apiKeys =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "createApiKey",
          summary: "Issue a named key for a business",
          description: "The answer carries the plaintext `api_key`, once.",
          body: bodyOf({ business_id: uuid(), name: nameText() }),
          response: { 201: ApiKeyCreation },
        },
      },
      async (request, reply) => {
        const { business_id, name } = request.body;
        const key = await rpc.apiKeys.createApiKey({ businessId: business_id, name }, callOf(request, reply));
        // A key has no address of its own to read it at; this one lists it.
        reply.code(201).header("location", `/api/v1/admin/api-keys?business_id=${key.businessId}`);
        return renderApiKey(key);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listApiKeys",
          summary: "List the keys of a business, newest first",
          querystring: Type.Object({ ...pageParameters(), business_id: uuid() }),
          response: { 200: Type.Array(ApiKeyForOperator) },
        },
      },
      async (request, reply) => {
        const { limit, offset, business_id } = request.query;
        const page = await rpc.apiKeys.listApiKeys({ limit, offset, businessId: business_id }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.apiKeys.map(renderApiKey);
      },
    );

    app.post(
      "/:id/revoke",
      {
        schema: {
          tags,
          operationId: "revokeApiKey",
          summary: "Revoke a key",
          description: "Holds everywhere from the moment of the answer. Revoking again changes nothing.",
          params: PathId,
          body: bodyOf({ reason: Type.Optional(text(500)) }, { optional: true }),
          response: { 200: ApiKeyRevocation },
        },
      },
      async (request, reply) => {
        const { reason } = request.body;
        const call = callOf(request, reply, changeTimeoutMs);
        return renderApiKey(await rpc.apiKeys.revokeApiKey({ id: pathId(request.params), reason }, call));
      },
    );
  };
