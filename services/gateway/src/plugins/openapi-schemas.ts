import {
  AccountJson,
  ApiKeyForOperator,
  AuditEventJson,
  BareEventJson,
  BeneficiaryJson,
  BusinessForItself,
  BusinessForOperator,
  ClientJson,
  DeadLetterJson,
  DeliveryJson,
  EndpointDisabledEventJson,
  EventJson,
  Invitation,
  KycApplicationJson,
  KycEventJson,
  OnboardingDetailsJson,
  OnboardingStatusJson,
  OperatorKey,
  OwnApiKey,
  PaymentEventJson,
  PaymentJson,
  PaymentLinkJson,
  PaymentTimelineJson,
  ReceiptJson,
  RefundJson,
  WebhookEndpointWithHealth,
  WebhookReplayJson,
} from "@amana/public-api";

/**
 * Schema names of the resources. The names must not change, because client libraries have types
 * with these names.
 */
const resources = {
  Account: AccountJson,
  ApiKey: ApiKeyForOperator,
  AuditEvent: AuditEventJson,
  Beneficiary: BeneficiaryJson,
  Business: BusinessForOperator,
  Client: ClientJson,
  DeadLetter: DeadLetterJson,
  Delivery: DeliveryJson,
  Event: EventJson,
  Invitation,
  KycApplication: KycApplicationJson,
  OnboardingDetails: OnboardingDetailsJson,
  OnboardingStatus: OnboardingStatusJson,
  OperatorKey,
  OwnApiKey,
  OwnBusiness: BusinessForItself,
  Payment: PaymentJson,
  PaymentLink: PaymentLinkJson,
  Receipt: ReceiptJson,
  PaymentTimeline: PaymentTimelineJson,
  Refund: RefundJson,
  WebhookEndpoint: WebhookEndpointWithHealth,
  WebhookReplay: WebhookReplayJson,
  // Bodies of webhooks.
  BareEvent: BareEventJson,
  EndpointDisabledEvent: EndpointDisabledEventJson,
  KycEvent: KycEventJson,
  PaymentEvent: PaymentEventJson,
};

export interface Schema {
  $ref?: string;
  title?: string;
  type?: string;
  format?: string;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
}

interface Content {
  content?: Readonly<Record<string, { schema?: Schema }>>;
}

export interface Link {
  operationId: string;
  description: string;
  parameters?: Record<string, string>;
  requestBody?: Record<string, string>;
}

/** The fields of an OpenAPI operation that the modules for the OpenAPI document use. */
export interface Operation {
  operationId?: string;
  parameters?: { in: string; name?: string; schema?: Schema }[];
  requestBody?: Content & { required?: boolean };
  security?: unknown[];
  responses: Record<string, Content & { description?: string; headers?: object; links?: Record<string, Link> }>;
}

/**
 * Returns the field names of a schema as text. This text identifies the schema, because the plugin
 * `@fastify/swagger` rewrites some schema objects.
 */
const fieldsOf = ({ properties = {}, required = [] }: { properties?: object; required?: readonly string[] }) =>
  JSON.stringify([Object.keys(properties), required]);
const resourceNameOf = new Map(Object.entries(resources).map(([name, schema]) => [fieldsOf(schema), name]));

/**
 * Sets the title of the request and response schemas of an operation. A resource has one name in
 * all operations. Other schemas are named after their operation: `CreatePaymentBody`,
 * `CreateApiKeyResult`, and `ListDeadLettersItem` for the items of a list.
 */
export function nameSchemas({ operationId: id = "", requestBody, responses }: Operation): void {
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  nameSchema(jsonOf(requestBody), `${name}Body`);
  const successResponses = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  for (const [, response] of successResponses) {
    const schema = jsonOf(response);
    nameSchema(schema?.items ?? schema, `${name}${schema?.items ? "Item" : "Result"}`);
  }
}

export const jsonOf = (body: Content | undefined) => body?.content?.["application/json"]?.schema;

function nameSchema(schema: Schema | undefined, name: string): void {
  if (schema?.properties && Object.keys(schema.properties).length > 0)
    schema.title = resourceNameOf.get(fieldsOf(schema)) ?? name;
}

/**
 * Returns a part of the document in which references replace resources and schemas with a title.
 * Adds the replaced schemas to `schemas`. Throws when two different schemas have the same name.
 */
export function extractSchemas(value: unknown, schemas: Record<string, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => extractSchemas(item, schemas));
  const resourceName = "properties" in value ? resourceNameOf.get(fieldsOf(value as Schema)) : undefined;
  const extractedSchema = Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, extractSchemas(child, schemas)]),
  );
  const { title = resourceName, ...schema } = extractedSchema;
  if (typeof title !== "string") return extractedSchema;
  // Merges the schemas, because only one of them may have a description. For a parameter, the
  // description is outside the schema.
  const mergedSchema: object = { ...(schemas[title] as object | undefined), ...schema };
  if (constraintsOf(schemas[title] ?? schema) !== constraintsOf(schema))
    throw new Error(`two different schemas have the name ${title}`);
  schemas[title] = mergedSchema;
  return { $ref: `#/components/schemas/${title}` };
}

/** Serializes a schema without its texts, to compare the accepted values. */
const constraintsOf = (schema: unknown) =>
  JSON.stringify(schema, (key, value) => (key === "description" || key === "examples" ? undefined : value));
