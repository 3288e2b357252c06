import swagger from "@fastify/swagger";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { errorsMax } from "../problem.ts";
import { problemCatalogue } from "../problem-catalogue.ts";
import { idempotencyKeyPattern } from "./idempotency-key.ts";
import { type Addressed, type LinkedOperation, linkOperations } from "./openapi-links.ts";
import { type NamedOperation, nameSchemas, sayOnce } from "./openapi-schemas.ts";
import { describeWebhooks } from "./openapi-webhooks.ts";

const FieldError = Type.Object({
  pointer: Type.Optional(Type.String({ description: "JSON pointer into the body.", examples: ["/amount"] })),
  parameter: Type.Optional(Type.String({ description: "Name of the query parameter.", examples: ["limit"] })),
  code: Type.String({ examples: ["required"] }),
  message: Type.String({ examples: ["is required"] }),
});

const ProblemDocument = Type.Object(
  {
    type: Type.String({ format: "uri-reference", examples: ["/problems/validation_failed"] }),
    title: Type.String({ examples: ["Validation failed"] }),
    status: Type.Integer({ examples: [422] }),
    detail: Type.String({ examples: ["Put right and send again: /amount."] }),
    instance: Type.String({ format: "uri-reference" }),
    code: Type.String({
      description: "Stable; decide by it. New ones may come. Each has a page with what to do: `/problems`.",
      examples: ["validation_failed"],
      // An enum would tell generators that there will never be another.
      "x-extensible-enum": Object.keys(problemCatalogue),
    }),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(FieldError, { description: `At most ${errorsMax}.` })),
    more_errors: Type.Optional(
      Type.Boolean({ description: `\`true\` when the request has more than the ${errorsMax} errors that are listed.` }),
    ),
  },
  { additionalProperties: true, description: "A refusal or a fault (RFC 9457)." },
);

const descriptions: Readonly<Record<number, string>> = {
  400: "The body is not JSON, or the Idempotency-Key is ill-formed.",
  401: "The key is missing or does not work.",
  403: "The key is of the wrong kind, or may not be used from this address.",
  404: "Nothing that the key may see has this address.",
  409: "The state forbids it.",
  413: "The body is too large.",
  415: "The body is not application/json.",
  422: "A field or parameter is wrong, or a rule forbids it.",
  429: "Too many requests or bytes at once: of this business, of this kind, or failed authentications from this address.",
  500: "Something went wrong on our side.",
  502: "The outside world answered with an error.",
  503: "Try again in a moment.",
  504: "No answer in time; the outcome may be open.",
};

const problemResponse = (status: number) => ({
  description: descriptions[status],
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

const headers = {
  requestId: {
    name: "X-Request-Id",
    in: "header",
    description: "Yours is echoed when it has 8 to 64 letters, digits, _ or -; another is replaced by one of ours.",
    schema: { type: "string" },
  },
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Makes the request safe to repeat for 24 hours: the same key and body get the first answer again.",
    schema: { type: "string", pattern: idempotencyKeyPattern },
  },
};

interface Parameter {
  in: string;
  name?: string;
  schema?: { type?: string; format?: string };
}

interface Operation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: { required?: string[] } }> };
  security?: unknown[];
  responses: Record<string, { description?: string; headers?: object; content?: object }>;
}

const textHeader = (description: string) => ({ description, schema: { type: "string" } });

const whole = (description: string) => ({ description, schema: { type: "integer" } });
const pageHeaders = {
  "X-Total-Count": whole("The number of matching items, up to 1 000."),
  "X-Total-Count-Capped": textHeader("`true` when more than 1 000 items match. Absent otherwise."),
  Link: textHeader("The first, last, prev and next page (RFC 8288). Without the last page when the count is capped."),
};
/** Operators are not limited, so an answer to them has none of these. */
const rateHeaders = {
  "RateLimit-Limit": whole("How many requests a burst may have."),
  "RateLimit-Remaining": whole("How many are left of it now."),
  "RateLimit-Reset": whole("Seconds until a whole burst is possible again."),
};

/** Those that the card processor or the verification provider may refuse. */
const outsideOperations = /^(createPayment|refundPayment|(create|cancel|review)KycApplication)$/;

/** Adds what every operation has in common, so that routes tell only what is theirs. */
function complete(method: string, operation: Operation): void {
  const isKeyless = operation.security?.length === 0;
  const hasBody = operation.requestBody !== undefined;
  const given = operation.parameters ?? [];
  const hasQuery = given.some((parameter) => parameter.in === "query");
  const namesThings = given.some(({ in: place, schema }) => place === "path" || schema?.format === "uuid");
  const added = [429, 500, 503, 504];
  if (!isKeyless) added.push(401, 403);
  if ((namesThings || hasBody) && !isKeyless) added.push(404);
  if (hasBody) added.push(400, 409, 413, 415, 422);
  if (hasQuery) added.push(422);
  const asksOutside = outsideOperations.test(operation.operationId ?? "");
  if (asksOutside) added.push(502);
  for (const status of [...new Set(added)].sort()) operation.responses[status] ??= problemResponse(status);
  if (isKeyless) {
    const content = { "text/html": { schema: { type: "string" } } };
    for (const status of added) operation.responses[status] = { description: `A page. ${descriptions[status]}`, content };
    operation.responses[404] = { description: "A page for the card holder: the token belongs to no payment.", content };
    operation.responses[429] = {
      description: "A page for the card holder: too many requests or bytes from this network.",
      content,
    };
  }

  for (const [status, response] of Object.entries(operation.responses)) {
    const isSuccess = status.startsWith("2");
    const isMade = status === "201" || status === "202";
    const isPage = status === "200" && hasQuery;
    // A refusal by the outside world is the end of a request too.
    const isStored = method === "post" && (isSuccess || status === "502" || (status === "422" && asksOutside));
    const waits = status === "409" ? "Seconds to wait, when something is still in progress." : "Seconds to wait.";
    response.headers = {
      "X-Request-Id": textHeader("Names this request to support."),
      ...response.headers,
      ...(isMade && { Location: textHeader("Where the new thing is.") }),
      ...(isPage && pageHeaders),
      ...(/^(409|429|503|504)$/.test(status) && { "Retry-After": whole(waits) }),
      ...(status === "401" && { "WWW-Authenticate": textHeader("`Bearer`.") }),
      ...(!isKeyless && (status === "429" || isSuccess) && rateHeaders),
      ...(isStored && { "Idempotent-Replayed": textHeader("`true` when this is the stored answer of an earlier request.") }),
    };
  }
  // A POST whose body has no required field acts without one.
  if (method === "post" && operation.requestBody) {
    operation.requestBody.required = operation.requestBody.content["application/json"]?.schema?.required !== undefined;
  }
  operation.parameters = [...given, headers.requestId];
  if (method === "post" && !isKeyless) operation.parameters.push(headers.idempotencyKey);
}

/** Collects the routes into an OpenAPI 3.1 document. Registered before them. */
export async function describeApi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Amana",
        version: "1.0.0",
        description:
          "Businesses, identity verification, clients, accounts, card payments and signed webhooks. Clients ignore fields and event types they do not know: " +
          "/api/v1 grows only by additions. A field without a value is left out. In a change (PUT, PATCH) a field that is left " +
          "out stays, and null clears one that is optional.",
      },
      servers: [{ url: "/" }],
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer <key>" },
          apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        },
      },
    },
    transformObject: (document) => {
      if (!("openapiObject" in document)) return {};
      const { openapiObject } = document;
      const operations: Addressed[] = [];
      for (const [path, item] of Object.entries(openapiObject.paths ?? {})) {
        for (const [method, operation] of Object.entries(item ?? {})) {
          if (typeof operation !== "object" || !("responses" in operation)) continue;
          complete(method, operation as unknown as Operation);
          operations.push({ method, path, operation: operation as unknown as LinkedOperation });
        }
      }
      linkOperations(operations);
      for (const { operation } of operations) nameSchemas(operation as unknown as NamedOperation);
      const schemas: Record<string, unknown> = { Problem: ProblemDocument };
      const paths = sayOnce(openapiObject.paths, schemas) as typeof openapiObject.paths;
      const webhooks = sayOnce(describeWebhooks(), schemas) as Record<string, object>;
      return { ...openapiObject, paths, components: { ...openapiObject.components, schemas }, webhooks };
    },
  });
}
