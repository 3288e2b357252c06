import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { BusinessForOperator, BusinessUpdate, businessStatuses, renderBusiness } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { choice, flag, nameText, search } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Businesses"];

/** Every change waits until it holds on all gateways, so it may take longer than a read. */
const changeTimeoutMs = 15_000;

export const businesses =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "createBusiness",
          summary: "Register a business",
          description: "The answer carries the plaintext `api_key`, once.",
          body: bodyOf({ name: nameText(), status: Type.Optional(choice(["ACTIVE", "PENDING"])) }),
          response: { 201: BusinessForOperator },
        },
      },
      async (request, reply) => {
        const { name, status } = request.body;
        const business = await rpc.businesses.createBusiness(
          { name, status: status && BusinessStatus[status] },
          callOf(request, reply),
        );
        reply.code(201).header("location", `/api/v1/businesses/${business.id}`);
        return renderBusiness(business);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listBusinesses",
          summary: "List businesses, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            status: Type.Optional(choice(businessStatuses)),
            search: Type.Optional(search({ description: "Any part of the name, in any case." })),
          }),
          response: { 200: Type.Array(BusinessForOperator) },
        },
      },
      async (request, reply) => {
        const { query } = request;
        const page = await rpc.businesses.listBusinesses(
          {
            limit: query.limit,
            offset: query.offset,
            status: query.status && BusinessStatus[query.status],
            search: query.search,
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, { ...page, shown: page.businesses.length });
        return page.businesses.map(renderBusiness);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getBusiness",
          summary: "Read a business",
          params: PathId,
          response: { 200: BusinessForOperator },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderBusiness(await rpc.businesses.getBusiness({ id }, callOf(request, reply)));
      },
    );

    app.patch(
      "/:id",
      {
        schema: {
          tags,
          operationId: "updateBusiness",
          summary: "Rename a business, change its status, rotate its key",
          description: "Rotation replaces the newest live key. Disabling and rotating hold from the moment of the answer.",
          params: PathId,
          body: bodyOf(
            {
              name: Type.Optional(nameText()),
              status: Type.Optional(choice(businessStatuses)),
              rotate_api_key: Type.Optional(flag()),
            },
            { immutable: ["id", "created_at", "updated_at", "organization_id", "api_key", "api_key_prefix"] },
          ),
          response: { 200: BusinessUpdate },
        },
      },
      async (request, reply) => {
        const { name, status, rotate_api_key } = request.body;
        const business = await rpc.businesses.updateBusiness(
          { id: pathId(request.params), name, status: status && BusinessStatus[status], rotateApiKey: rotate_api_key },
          callOf(request, reply, changeTimeoutMs),
        );
        return renderBusiness(business);
      },
    );
  };
