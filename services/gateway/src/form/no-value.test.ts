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

const invited = { authorization: `Bearer ${generateApiKey("inv_")}` };

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
  /** Whether the thing that is answered can be without it. */
  readonly isOptional: boolean;
}

const theDocument = () => gateway.app.swagger() as unknown as Document;
const schemaOf = (content: Content | undefined): ObjectSchema => {
  const schema = content?.content?.["application/json"]?.schema ?? {};
  return schema.$ref ? (theDocument().components.schemas[schema.$ref.replace("#/components/schemas/", "")] ?? {}) : schema;
};
const propertiesOf = (content: Content | undefined) => schemaOf(content).properties ?? {};
const isOperators = (path: string) => /^\/api\/v1\/(businesses|admin)|\/(approve|decline|review)$/.test(path);

/** Every field of every body that the API takes with one of these methods. */
function fieldsOf(...methods: readonly Field["method"][]): Field[] {
  return Object.entries(theDocument().paths).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method.toLowerCase()];
      const answer = schemaOf(operation?.responses["200"]);
      return Object.keys(propertiesOf(operation?.requestBody)).map((name) => ({
        operation: operation?.operationId ?? "",
        name,
        path,
        method,
        isOptional: Object.hasOwn(answer.properties ?? {}, name) && !(answer.required ?? []).includes(name),
      }));
    }),
  );
}

/** The fields whose value was judged wrong when it was this one, as "operation name". */
async function refusing(fields: readonly Field[], value: unknown): Promise<string[]> {
  const refused: string[] = [];
  for (const { operation, name, path, method } of fields) {
    const answer = await gateway.app.inject({
      method,
      url: path.replace(/\{[^}]+\}/, "019a0000-0000-7000-8000-000000000001"),
      headers: path.startsWith("/api/v1/onboarding/") ? invited : (isOperators(path) ? gateway.admin : gateway.business).headers,
      payload: { [name]: value },
    });
    const errors: { pointer: string; code: string }[] = answer.json().errors ?? [];
    if (errors.some(({ pointer, code }) => pointer === `/${name}` && code === "invalid")) refused.push(`${operation} ${name}`);
    // Otherwise only something else is missing, or the request has come to the service, which has
    // no RPCs.
    else if (errors.length > 0) expect([operation, name, ...errors.map(({ code }) => code)]).not.toContain("invalid");
    else expect([operation, name, answer.json().code]).toEqual([operation, name, "service_unavailable"]);
  }
  return refused;
}

const named = (fields: readonly Field[]) => fields.map(({ operation, name }) => `${operation} ${name}`);

/** A form has many of these and a person fills few: there "" and null say that there is none. */
const isDetail = ({ operation, name, isOptional }: Field) =>
  (operation === "createBeneficiary" && !["client_id", "name", "beneficiary_type", "display"].includes(name)) ||
  (operation === "updateBeneficiary" && isOptional);

test.each([null, ""])("%j is no value of a field of a POST, but for a beneficiary's details", async (nothing) => {
  const fields = fieldsOf("POST");
  const refuses = fields.filter((field) => !isDetail(field));
  expect(refuses.length).toBeGreaterThan(60);
  expect(fields.length - refuses.length).toBe(11);
  expect(await refusing(fields, nothing)).toEqual(named(refuses));
});

test("in a change null clears what can be without a value, and nothing else", async () => {
  const fields = fieldsOf("PUT", "PATCH");
  // An endpoint that never chose its events shows the default ones.
  const keeps = fields.filter(({ isOptional, name }) => !isOptional && name !== "events");
  expect(fields.length - keeps.length).toBeGreaterThan(25);
  expect(await refusing(fields, null)).toEqual(named(keeps));
});

test('in a change "" clears a beneficiary\'s details, and nothing else', async () => {
  const fields = fieldsOf("PUT", "PATCH");
  expect(fields.filter(isDetail).length).toBeGreaterThan(5);
  expect(await refusing(fields, "")).toEqual(named(fields.filter((field) => !isDetail(field))));
});

test("what is shown and a change does not take cannot be changed, not even to what it is", async () => {
  const tried: string[] = [];
  for (const [path, operations] of Object.entries(theDocument().paths)) {
    for (const method of ["put", "patch"] as const) {
      const change = operations[method];
      if (!change) continue;
      const shown = propertiesOf(operations["get"]?.responses["200"]);
      const taken = propertiesOf(change.requestBody);
      for (const name of Object.keys(shown).filter((one) => !Object.hasOwn(taken, one))) {
        const answer = await gateway.app.inject({
          method: method === "put" ? "PUT" : "PATCH",
          url: path.replace(/\{[^}]+\}/, "019a0000-0000-7000-8000-000000000001"),
          headers: (isOperators(path) ? gateway.admin : gateway.business).headers,
          payload: { [name]: "x" },
        });
        const { code, errors } = answer.json();
        expect([change.operationId, answer.statusCode, code, errors]).toEqual([
          change.operationId,
          422,
          "immutable_field",
          [{ pointer: `/${name}`, code: "immutable_field", message: "cannot be changed" }],
        ]);
        tried.push(`${change.operationId} ${name}`);
      }
    }
  }
  expect(tried).toEqual(
    expect.arrayContaining(["updateAccount currency", "updatePerson nationality", "updateBeneficiary client_id"]),
  );
  expect(tried.length).toBeGreaterThan(40);
});

test("whoever sends null for a field that can be left out is told to leave it out", async () => {
  const answer = await gateway.app.inject({
    method: "POST",
    url: "/api/v1/webhook-endpoints",
    headers: gateway.business.headers,
    payload: { url: null, events: null },
  });
  const [url, events] = answer.json().errors as { message: string }[];
  expect(url?.message).not.toContain("leave it out");
  expect(events?.message).toMatch(/^must .*; leave it out rather than send null$/);
});
