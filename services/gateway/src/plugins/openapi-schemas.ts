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
  PaymentTimelineJson,
  RefundJson,
  WebhookEndpointWithHealth,
  WebhookReplayJson,
} from "@amana/public-api";

/** Types in the libraries of users are called so: a change of a name breaks their programs. */
const nouns = {
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

interface Schema {
  title?: string;
  items?: Schema;
  properties?: object;
  required?: readonly string[];
}
/** By names alone: @fastify/swagger writes some schemas in other words. */
const fieldsOf = ({ properties = {}, required = [] }: Schema) => JSON.stringify([Object.keys(properties), required]);
const nounOf = new Map(Object.entries<Schema>(nouns).map(([name, schema]) => [fieldsOf(schema), name]));

interface Content {
  content?: Readonly<Record<string, { schema?: Schema } | undefined>>;
}
export interface NamedOperation {
  operationId?: string;
  requestBody?: Content;
  responses: Readonly<Record<string, Content>>;
}

/**
 * Names what an operation takes and answers. A noun has one name wherever it is met; what belongs
 * to one operation alone is called after it: `CreatePaymentBody`, `CreateApiKeyResult`,
 * `ListDeadLettersItem` of a list.
 */
export function nameSchemas({ operationId: id = "", requestBody, responses }: NamedOperation): void {
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  nameSchema(jsonOf(requestBody), `${name}Body`);
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  for (const [, answer] of answers) {
    const schema = jsonOf(answer);
    nameSchema(schema?.items ?? schema, `${name}${schema?.items ? "Item" : "Result"}`);
  }
}

const jsonOf = (body: Content | undefined) => body?.content?.["application/json"]?.schema;

function nameSchema(schema: Schema | undefined, name: string): void {
  if (schema?.properties && Object.keys(schema.properties).length > 0) schema.title = nounOf.get(fieldsOf(schema)) ?? name;
}

/**
 * A part of the document with references in the place of nouns and of schemas that have a title.
 * `schemas` gets these. Throws when two different ones have one name.
 */
export function sayOnce(value: unknown, schemas: Record<string, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => sayOnce(one, schemas));
  const noun = "properties" in value ? nounOf.get(fieldsOf(value as Schema)) : undefined;
  const said = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sayOnce(one, schemas)]));
  const { title = noun, ...schema } = said;
  if (typeof title !== "string") return said;
  // A parameter's words are beside its schema, so one of the two may be without them.
  const whole: object = { ...(schemas[title] as object | undefined), ...schema };
  if (formOf(schemas[title] ?? schema) !== formOf(schema)) throw new Error(`Two schemas are called ${title}`);
  schemas[title] = whole;
  return { $ref: `#/components/schemas/${title}` };
}

/** What values it allows. */
const formOf = (schema: unknown) =>
  JSON.stringify(schema, (key, value) => (key === "description" || key === "examples" ? undefined : value));
