import { generateApiKey } from "@amana/api-keys";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ allowInsecureUrls: true });
  gateway.behaviour.invitations.resolveInvitation = async () => ({ isGood: true });
  await gateway.app.ready();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const invitationHeaders = { authorization: `Bearer ${generateApiKey("inv_")}` };

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ObjectSchema>> };
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface ObjectSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: ObjectSchema }>>;
}
interface Field {
  readonly operation: string;
  readonly name: string;
  readonly path: string;
  readonly method: "POST" | "PUT" | "PATCH";
  /** Whether the field is optional in the response. */
  readonly isOptional: boolean;
}

const openApiDocument = () => gateway.app.swagger() as unknown as Document;
const schemaOf = (content: Content | undefined): ObjectSchema => {
  const schema = content?.content?.["application/json"]?.schema ?? {};
  return schema.$ref ? (openApiDocument().components.schemas[schema.$ref.replace("#/components/schemas/", "")] ?? {}) : schema;
};
const propertiesOf = (content: Content | undefined) => schemaOf(content).properties ?? {};
const isOperatorPath = (path: string) => /^\/api\/v1\/(businesses|admin)|\/(approve|decline|review)$/.test(path);

/** Returns the fields of all request bodies of these methods. */
function fieldsOf(...methods: readonly Field["method"][]): Field[] {
  return Object.entries(openApiDocument().paths).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method.toLowerCase()];
      const result = schemaOf(operation?.responses["200"]);
      return Object.keys(propertiesOf(operation?.requestBody)).map((name) => ({
        operation: operation?.operationId ?? "",
        name,
        path,
        method,
        isOptional: Object.hasOwn(result.properties ?? {}, name) && !(result.required ?? []).includes(name),
      }));
    }),
  );
}

/** Returns the fields that reject the value, each as "operation name". */
async function rejectedFields(fields: readonly Field[], value: unknown): Promise<string[]> {
  const rejected: string[] = [];
  for (const { operation, name, path, method } of fields) {
    const response = await gateway.app.inject({
      method,
      url: path.replace(/\{[^}]+\}/, "019a0000-0000-7000-8000-000000000001"),
      headers: path.startsWith("/api/v1/onboarding/")
        ? invitationHeaders
        : (isOperatorPath(path) ? gateway.admin : gateway.business).headers,
      payload: { [name]: value },
    });
    const errors: { pointer: string; code: string }[] = response.json().errors ?? [];
    if (errors.some(({ pointer, code }) => pointer === `/${name}` && code === "invalid")) rejected.push(`${operation} ${name}`);
    // Any other response means that another field is missing, or that the gateway called the RPC,
    // which the harness does not implement.
    else if (errors.length > 0) expect([operation, name, ...errors.map(({ code }) => code)]).not.toContain("invalid");
    else expect([operation, name, response.json().code]).toEqual([operation, name, "service_unavailable"]);
  }
  return rejected;
}

const namesOf = (fields: readonly Field[]) => fields.map(({ operation, name }) => `${operation} ${name}`);

/** Bank details of a beneficiary, for which "" and null mean that there is no value. */
const isBankDetail = ({ operation, name, isOptional }: Field) =>
  (operation === "createBeneficiary" && !["client_id", "name", "beneficiary_type", "display"].includes(name)) ||
  (operation === "updateBeneficiary" && isOptional);

test.each([null, ""])(
  "the gateway rejects the value %j in each field of a POST, except in the bank details of a beneficiary",
  async (emptyValue) => {
    const fields = fieldsOf("POST");
    const rejectedByPost = fields.filter((field) => !isBankDetail(field));
    expect(rejectedByPost.length).toBeGreaterThan(60);
    expect(fields.length - rejectedByPost.length).toBe(11);
    expect(await rejectedFields(fields, emptyValue)).toEqual(namesOf(rejectedByPost));
  },
);

test("the gateway clears an optional field that is null in a PUT or PATCH, and rejects null in a required field", async () => {
  const fields = fieldsOf("PUT", "PATCH");
  // `events` is always in the response, but null restores the default.
  const required = fields.filter(({ isOptional, name }) => !isOptional && name !== "events");
  expect(fields.length - required.length).toBeGreaterThan(25);
  expect(await rejectedFields(fields, null)).toEqual(namesOf(required));
});

test('the gateway clears a beneficiary\'s bank detail that is "" in a PUT or PATCH, and rejects "" in other fields', async () => {
  const fields = fieldsOf("PUT", "PATCH");
  expect(fields.filter(isBankDetail).length).toBeGreaterThan(5);
  expect(await rejectedFields(fields, "")).toEqual(namesOf(fields.filter((field) => !isBankDetail(field))));
});

test("the gateway returns immutable_field if a PUT or PATCH contains a response field that requests cannot change", async () => {
  const testedFields: string[] = [];
  for (const [path, operations] of Object.entries(openApiDocument().paths)) {
    for (const method of ["put", "patch"] as const) {
      const change = operations[method];
      if (!change) continue;
      const readable = propertiesOf(operations["get"]?.responses["200"]);
      const writable = propertiesOf(change.requestBody);
      for (const name of Object.keys(readable).filter((field) => !Object.hasOwn(writable, field))) {
        const response = await gateway.app.inject({
          method: method === "put" ? "PUT" : "PATCH",
          url: path.replace(/\{[^}]+\}/, "019a0000-0000-7000-8000-000000000001"),
          headers: (isOperatorPath(path) ? gateway.admin : gateway.business).headers,
          payload: { [name]: "x" },
        });
        const { code, errors } = response.json();
        expect([change.operationId, response.statusCode, code, errors]).toEqual([
          change.operationId,
          422,
          "immutable_field",
          [{ pointer: `/${name}`, code: "immutable_field", message: "cannot be changed" }],
        ]);
        testedFields.push(`${change.operationId} ${name}`);
      }
    }
  }
  expect(testedFields).toEqual(
    expect.arrayContaining(["updateAccount currency", "updatePerson nationality", "updateBeneficiary client_id"]),
  );
  expect(testedFields.length).toBeGreaterThan(40);
});

test("the gateway's error message for null in an optional field of a POST recommends to leave the field out", async () => {
  const response = await gateway.app.inject({
    method: "POST",
    url: "/api/v1/webhook-endpoints",
    headers: gateway.business.headers,
    payload: { url: null, events: null },
  });
  const [url, events] = response.json().errors as { message: string }[];
  expect(url?.message).not.toContain("leave the field out");
  expect(events?.message).toMatch(/^must .*; leave the field out instead of sending null$/);
});
