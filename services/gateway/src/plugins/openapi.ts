import swagger from "@fastify/swagger";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { sortPaths, tags } from "../openapi-tags.ts";
import { errorsMax } from "../problem.ts";
import { problemCatalogue } from "../problem-catalogue.ts";
import { idempotencyKeyPattern } from "./idempotency-key.ts";
import { type LinkTarget, linkOperations } from "./openapi-links.ts";
import { extractSchemas, jsonOf, nameSchemas, type Operation } from "./openapi-schemas.ts";
import { describeWebhooks } from "./openapi-webhooks.ts";

const FieldError = Type.Object({
  pointer: Type.Optional(Type.String({ description: "JSON pointer to the field in the body.", examples: ["/amount"] })),
  parameter: Type.Optional(Type.String({ description: "Name of the query parameter.", examples: ["limit"] })),
  code: Type.String({ examples: ["required"] }),
  message: Type.String({ examples: ["is required"] }),
});

const ProblemDocument = Type.Object(
  {
    type: Type.String({ format: "uri-reference", examples: ["/problems/validation_failed"] }),
    title: Type.String({ examples: ["Validation failed"] }),
    status: Type.Integer({ examples: [422] }),
    detail: Type.String({ examples: ["Correct these fields and send the request again: /amount."] }),
    instance: Type.String({ format: "uri-reference" }),
    code: Type.String({
      description:
        "Stable code of the problem. Use it for decisions in your program. New codes can be added. `/problems` documents each code.",
      examples: ["validation_failed"],
      // Code generators treat an enum as complete, but new codes can be added.
      "x-extensible-enum": Object.keys(problemCatalogue),
    }),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(FieldError, { description: `Invalid fields and parameters, at most ${errorsMax}.` })),
    more_errors: Type.Optional(
      Type.Boolean({ description: `\`true\` when the request has more than the ${errorsMax} listed errors.` }),
    ),
  },
  { additionalProperties: true, description: "Problem document (RFC 9457) of a response with a status of 400 or higher." },
);

const descriptions: Readonly<Record<number, string>> = {
  400: "The body is not valid JSON, or the Idempotency-Key is malformed.",
  401: "The API key is missing, unknown, revoked or expired, or its business is not ACTIVE.",
  403: "The operation requires another kind of key, or the key does not allow the IP address of the caller.",
  404: "The resource does not exist or is not accessible with this API key.",
  409: "The current state does not allow the operation. The code contains the reason.",
  413: "The body is too large.",
  415: "The Content-Type is not application/json.",
  422: "A field or parameter is invalid, or a rule rejects the request.",
  429: "A limit of requests or bytes of the business, or of failed authentications from this IP address, is exceeded.",
  500: "The request failed because of an error in Amana.",
  502: "The card processor or the verification provider returned an error.",
  503: "The service is unavailable or overloaded. Send the request again after Retry-After.",
  504: "No response arrived in time, and the outcome may be unknown.",
};

/** Descriptions of successful responses. They replace the placeholder text of @fastify/swagger. */
const successDescriptions: Readonly<Record<string, string>> = {
  200: "The operation succeeded.",
  201: "The resource was created.",
  202: "The request was accepted and continues in the background.",
};

const problemResponse = (status: number) => ({
  description: descriptions[status],
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

const headers = {
  requestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "Your id of the request, with 8 to 64 letters, digits, _ or -. The response repeats it. The gateway replaces an id of another form.",
    schema: { type: "string" },
  },
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Unique key of the request. For 24 hours, a request with the same key and body returns the stored response.",
    schema: { type: "string", pattern: idempotencyKeyPattern },
  },
};

const textHeader = (description: string) => ({ description, schema: { type: "string" } });

const integerHeader = (description: string) => ({ description, schema: { type: "integer" } });
const pageHeaders = {
  "X-Total-Count": integerHeader("Number of matching items, at most 1 000."),
  "X-Total-Count-Capped": textHeader("`true` when more than 1 000 items match. Absent otherwise."),
  Link: textHeader("Links to the first, last, prev and next page (RFC 8288). There is no last page when the count is capped."),
};
/** Responses to operators do not have these headers, because operators have no rate limit. */
const rateHeaders = {
  "RateLimit-Limit": integerHeader("Maximum number of requests in a burst."),
  "RateLimit-Remaining": integerHeader("Remaining number of requests in the burst."),
  "RateLimit-Reset": integerHeader("Seconds until a full burst is possible again."),
};

/** Operations that call the card processor or the verification provider. */
const externalOperations = /^(createPayment|refundPayment|(create|cancel|review)KycApplication)$/;

/** Adds the responses, headers and parameters that operations have in common. */
function completeOperation(method: string, operation: Operation): void {
  const isKeyless = operation.security?.length === 0;
  const hasBody = operation.requestBody !== undefined;
  const ownParameters = operation.parameters ?? [];
  const hasQuery = ownParameters.some((parameter) => parameter.in === "query");
  const hasIds = ownParameters.some(({ in: place, schema }) => place === "path" || schema?.format === "uuid");
  const statuses = [429, 500, 503, 504];
  if (!isKeyless) statuses.push(401, 403);
  if ((hasIds || hasBody) && !isKeyless) statuses.push(404);
  if (hasBody) statuses.push(400, 409, 413, 415, 422);
  if (hasQuery) statuses.push(422);
  if (operation.operationId === "getPaymentReceipt") statuses.push(409);
  const callsExternally = externalOperations.test(operation.operationId ?? "");
  if (callsExternally) statuses.push(502);
  for (const status of [...new Set(statuses)].sort()) operation.responses[status] ??= problemResponse(status);
  if (isKeyless) {
    const content = { "text/html": { schema: { type: "string" } } };
    for (const status of statuses) operation.responses[status] = { description: `HTML page. ${descriptions[status]}`, content };
    operation.responses[404] = { description: "HTML page for the card holder. The token belongs to no payment.", content };
    operation.responses[429] = {
      description: "HTML page for the card holder. A limit of requests or bytes from this network is exceeded.",
      content,
    };
  }

  for (const [status, response] of Object.entries(operation.responses)) {
    const isSuccess = status.startsWith("2");
    const isCreated = status === "201" || status === "202";
    const isPage = status === "200" && ownParameters.some(({ name }) => name === "offset");
    // A rejection by an external system is final, so it is stored for the Idempotency-Key like a
    // success.
    const isStored = method === "post" && (isSuccess || status === "502" || (status === "422" && callsExternally));
    const retryAfterText =
      status === "409"
        ? "Seconds to wait before a retry, when another request is in progress."
        : "Seconds to wait before a retry.";
    if (response.description === "Default Response") response.description = successDescriptions[status] ?? "";
    response.headers = {
      "X-Request-Id": textHeader("Id of the request, for support."),
      ...response.headers,
      ...(isCreated && { Location: textHeader("URL of the new resource, or of the list that contains it.") }),
      ...(isPage && pageHeaders),
      ...(/^(409|429|503|504)$/.test(status) && { "Retry-After": integerHeader(retryAfterText) }),
      ...(status === "401" && { "WWW-Authenticate": textHeader("`Bearer`.") }),
      ...(!isKeyless && (status === "429" || isSuccess) && rateHeaders),
      ...(isStored && {
        "Idempotent-Replayed": textHeader("`true` when the response is the stored response of an earlier request."),
      }),
    };
  }
  // The body of a POST is optional when no field is required.
  if (method === "post" && operation.requestBody) {
    operation.requestBody.required = jsonOf(operation.requestBody)?.required !== undefined;
  }
  operation.parameters = [...ownParameters, headers.requestId];
  if (method === "post" && !isKeyless) operation.parameters.push(headers.idempotencyKey);
}

/** Collects the routes into an OpenAPI 3.1 document. Must be registered before the routes. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    // Pages, callbacks and health checks have no tag, because they are not part of the API.
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Amana",
        version: "1.0.0",
        description:
          "Card payments, refunds, identity verification, clients, accounts and signed webhooks. /api/v1 changes only by " +
          "additions, so ignore unknown fields and event types. Fields without a value are absent. In a change (PUT, PATCH), " +
          "absent fields stay unchanged and null clears an optional field.",
      },
      servers: [{ url: "/" }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "API key as `Authorization: Bearer <key>`." },
          apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        },
      },
    },
    transformObject: (document) => {
      if (!("openapiObject" in document)) return {};
      const { openapiObject } = document;
      const operations: LinkTarget[] = [];
      for (const [path, item] of Object.entries(openapiObject.paths ?? {})) {
        for (const [method, operation] of Object.entries(item as Record<string, Operation>)) {
          completeOperation(method, operation);
          operations.push({ method, path, operation });
        }
      }
      linkOperations(operations);
      for (const { operation } of operations) nameSchemas(operation);
      const schemas: Record<string, unknown> = { Problem: ProblemDocument };
      const paths = extractSchemas(sortPaths(openapiObject.paths ?? {}), schemas) as typeof openapiObject.paths;
      const webhooks = extractSchemas(describeWebhooks(), schemas) as Record<string, object>;
      return { ...openapiObject, paths, components: { ...openapiObject.components, schemas }, webhooks };
    },
  });
}
