import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { DomainError } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  gateway.behaviour.beneficiaries.createBeneficiary = async () => aBeneficiary();
  gateway.behaviour.beneficiaries.updateBeneficiary = async () => aBeneficiary();
});

const id = "019a0000-0000-7000-8000-000000000001";
const clientId = "019a0000-0000-7000-8000-000000000002";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const iban = "DZ580002100001113000000570";
const aBeneficiary = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  clientId,
  type: BeneficiaryType.PERSON,
  name: "Karim Haddad",
  display: true,
  createdAtMs: at,
  updatedAtMs: at,
  iban,
  ...fields,
});
const expectedJson = {
  id,
  client_id: clientId,
  beneficiary_type: "PERSON",
  name: "Karim Haddad",
  display: true,
  created_at: atText,
  updated_at: atText,
  iban,
};
const body = { client_id: clientId, name: "Karim Haddad", iban };

const send = (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path = "", payload?: object, headers: object = {}) =>
  gateway.app.inject({
    method,
    url: `/api/v1/beneficiaries${path}`,
    headers: { ...gateway.business.headers, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const request = () => gateway.received[0]?.request;

/** Fields with invalid values. */
const invalidValues: readonly (readonly [string, unknown])[] = [
  ...["", "  ", 7, null, "a".repeat(201), "\ud800", "a\u0000b"].map((value) => ["name", value] as const),
  ...["person", "", null, "FIRM", 1].map((value) => ["beneficiary_type", value] as const),
  ...["true", 1, null, ""].map((value) => ["display", value] as const),
  ...[
    "DZ5800021000011130000005",
    "DZ580002100001113000000571",
    "FR1420041010050500013M02607",
    "GB29NWBK6016133192681",
    "XX00",
    "DE8937040044053201300O",
    "DE89-3704-0044-0532-0130-00",
    "ＤＺ580002100001113000000570",
    7,
    [iban],
  ].map((value) => ["iban", value] as const),
  ...["BNPAFRP", "BNPA1RPP", "BNPAZZPP", "BNPAFRPPXX", "BNPAFRPPXXXX", "ßNPAFRPP", 7].flatMap((value) => [
    ["bic", value] as const,
    ["swift_code", value] as const,
  ]),
  ...["021000022", "500000005", "990000000", "02100002", "0210000211", "021 000 021", "000000000", 21000021].map(
    (value) => ["routing_number", value] as const,
  ),
  ...["12 34", "12-34", "1".repeat(35), "é", "١٢٣", 12].map((value) => ["account_number", value] as const),
  ...["DZ", "dza", "012", "XXX", "DZAA", 12].map((value) => ["country_code", value] as const),
  ...["bank_name", "bank_address", "address", "city", "postal_code"].flatMap((name) => [
    [name, "a".repeat(201)] as const,
    [name, 16000] as const,
    [name, "a\u0000"] as const,
  ]),
  ["iban ", iban],
  ["ibn", iban],
  ["business_id", clientId],
  ["constructor", {}],
];

describe("POST /beneficiaries", () => {
  test("POST /beneficiaries returns 201 with the Location and the beneficiary", async () => {
    const response = await send("POST", "", body);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/beneficiaries/${id}`]);
    expect(response.json()).toEqual(expectedJson);
    expect(request()).toMatchObject({ clientId, name: "Karim Haddad", iban, type: BeneficiaryType.UNSPECIFIED });
    expect(request()).not.toHaveProperty("display");
  });

  test("POST /beneficiaries sends each field to the clients service in its stored form", async () => {
    gateway.behaviour.beneficiaries.createBeneficiary = async ({ $typeName: _, ...given }) => aBeneficiary(given);
    const response = await send("POST", "", {
      client_id: clientId.toUpperCase(),
      beneficiary_type: "COMPANY",
      name: "  Cafe\u0301 ",
      display: false,
      iban: "dz58 0002 1000 0111\u00a03000 0005 70",
      account_number: "Ab1",
      bic: "bexadzal",
      swift_code: "BEXA DZ AL XXX",
      routing_number: "021000021",
      bank_name: " Banque ",
      bank_address: "1 rue",
      address: "2 rue",
      city: "Oran",
      postal_code: "31000",
      country_code: "DZA",
    });
    expect(response.json()).toEqual({
      ...expectedJson,
      beneficiary_type: "COMPANY",
      name: "Café",
      display: false,
      account_number: "Ab1",
      bic: "BEXADZAL",
      swift_code: "BEXADZALXXX",
      routing_number: "021000021",
      bank_name: "Banque",
      bank_address: "1 rue",
      address: "2 rue",
      city: "Oran",
      postal_code: "31000",
      country_code: "DZA",
    });
  });

  test.each([null, "", "  "])("POST /beneficiaries treats %j as an absent bank detail", async (emptyValue) => {
    const response = await send("POST", "", {
      ...body,
      bic: emptyValue,
      city: emptyValue,
      account_number: emptyValue === "  " ? "" : emptyValue,
    });
    expect(response.statusCode).toBe(201);
    for (const name of ["bic", "city", "accountNumber"]) expect(request()).not.toHaveProperty(name);
  });

  test.each(["client_id", "name"])("POST /beneficiaries requires %s", async (name) => {
    const response = await send("POST", "", { ...body, [name]: undefined });
    expect(response.json()).toMatchObject({
      status: 422,
      code: "validation_failed",
      errors: [{ pointer: `/${name}`, code: "required" }],
    });
    expect(gateway.received).toEqual([]);
  });

  test.each(["x", "", null, 7, `${clientId}0`])("POST /beneficiaries rejects the client_id %j", async (client_id) => {
    const response = await send("POST", "", { ...body, client_id });
    expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: "/client_id" }] });
  });

  test.each(invalidValues)(
    "POST /beneficiaries rejects %s = %j, and the error has a pointer to the field",
    async (name, value) => {
      const response = await send("POST", "", { ...body, [name]: value });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}` }] });
      expect(response.json().errors).toHaveLength(1);
      expect(gateway.received).toEqual([]);
    },
  );

  test("POST /beneficiaries returns an error for each invalid field", async () => {
    const response = await send("POST", "", { iban: "x", bic: "y", routing_number: "z", nmae: "typo" });
    expect(response.json().errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/iban",
      "/bic",
      "/routing_number",
      "/nmae",
      "/client_id",
      "/name",
    ]);
  });

  test.each([
    ["invalid", "beneficiary_needs_iban_or_account_number", 422, "/iban"],
    ["not_found", "client_not_found", 404, "/client_id"],
    ["conflict", "client_blocked", 409, ""],
  ] as const)(
    "POST /beneficiaries maps a refusal of the kind %s with the code %s to status %i",
    async (kind, code, status, pointer) => {
      gateway.behaviour.beneficiaries.createBeneficiary = async () => {
        throw new DomainError(kind, code, "The request was refused.", { pointer });
      };
      const response = await send("POST", "", body);
      expect(response.json()).toMatchObject({ status, code, detail: "The request was refused." });
      expect(response.json().errors).toEqual(
        pointer === "" ? undefined : [{ pointer, code, message: "The request was refused." }],
      );
    },
  );

  test("POST /beneficiaries forwards the Idempotency-Key together with the request's route", async () => {
    await send("POST", "", body, { "idempotency-key": "k-1" });
    expect(gateway.received[0]?.call.idempotencyKey).toMatchObject({ key: "k-1", route: "POST /api/v1/beneficiaries" });
  });
});

describe("PUT /beneficiaries/{id}", () => {
  test("PUT /beneficiaries/{id} sends only the fields of the request to the clients service", async () => {
    const response = await send("PUT", `/${id}`, { iban: " gb29 nwbk 6016 1331 9268 19 ", display: false });
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    const { $typeName: _, ...sent } = request() as Record<string, unknown>;
    expect(sent).toEqual({ id, type: 0, iban: "GB29NWBK60161331926819", display: false, cleared: [] });
  });

  test("PUT /beneficiaries/{id} returns 200 without changes for an empty object", async () => {
    expect((await send("PUT", `/${id}`, {})).statusCode).toBe(200);
    expect(request()).toMatchObject({ id, cleared: [] });
  });

  test.each([null, "", "   "])(
    "PUT /beneficiaries/{id} clears each bank detail that has the value %j in the request",
    async (emptyValue) => {
      const names = ["iban", "bic", "swift_code", "bank_name", "bank_address", "address", "city", "postal_code"];
      const exactFields = ["account_number", "routing_number", "country_code"];
      const payload = Object.fromEntries([
        ...names.map((name) => [name, emptyValue]),
        ...exactFields.map((name) => [name, emptyValue === "   " ? "" : emptyValue]),
      ]);
      expect((await send("PUT", `/${id}`, payload)).statusCode).toBe(200);
      expect((request() as { cleared: string[] }).cleared.sort()).toEqual([...names, ...exactFields].sort());
      for (const name of ["iban", "bic", "bankName"]) expect(request()).not.toHaveProperty(name);
    },
  );

  test.each(invalidValues)(
    "PUT /beneficiaries/{id} rejects %s = %j, and the error has a pointer to the field",
    async (name, value) => {
      const response = await send("PUT", `/${id}`, { [name]: value });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}` }] });
      expect(gateway.received).toEqual([]);
    },
  );

  test("PUT /beneficiaries/{id} requires a body", async () => {
    expect((await send("PUT", `/${id}`)).json()).toMatchObject({ status: 400, code: "invalid_json" });
  });

  test("PUT /beneficiaries/{id} returns the refusal of the clients service unchanged when neither an IBAN nor an account number would remain", async () => {
    gateway.behaviour.beneficiaries.updateBeneficiary = async () => {
      throw new DomainError("invalid", "beneficiary_needs_iban_or_account_number", "Send an IBAN or an account number.", {
        pointer: "/iban",
      });
    };
    expect((await send("PUT", `/${id}`, { iban: null })).json()).toMatchObject({
      status: 422,
      code: "beneficiary_needs_iban_or_account_number",
      errors: [{ pointer: "/iban" }],
    });
  });
});

describe("GET /beneficiaries", () => {
  test("GET /beneficiaries/{id} returns a beneficiary, and calls the clients service as the calling business", async () => {
    gateway.behaviour.beneficiaries.getBeneficiary = async () => aBeneficiary();
    const response = await send("GET", `/${id}`);
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    expect(gateway.received[0]?.call.caller).toMatchObject({ role: "business", businessId: gateway.business.businessId });
  });

  test.each(["GET", "PUT"] as const)(
    "%s /beneficiaries/{id} returns the same 404 for an unknown and a malformed id",
    async (method) => {
      const refuseWith = async () => {
        throw new DomainError("not_found", "not_found", "There is no such beneficiary.");
      };
      gateway.behaviour.beneficiaries.getBeneficiary = refuseWith;
      gateway.behaviour.beneficiaries.updateBeneficiary = refuseWith;
      const headers = { "x-request-id": "same-request" };
      const payload = method === "PUT" ? {} : undefined;
      const notFound = await send(method, `/${uuidv7()}`, payload, headers);
      expect(notFound.json()).toMatchObject({ status: 404, code: "not_found" });
      for (const malformedId of ["x", "%00", `${id}0`]) {
        expect((await send(method, `/${malformedId}`, payload, headers)).body).toBe(notFound.body);
      }
    },
  );

  test("GET /beneficiaries sends each filter to the clients service, and returns an array of beneficiaries and the total", async () => {
    gateway.behaviour.beneficiaries.listBeneficiaries = async () => ({ beneficiaries: [aBeneficiary()], total: 7 });
    const query = `limit=1&offset=2&client_id=${clientId}&beneficiary_type=COMPANY&country_code=DZA&display=false&search=%25_%5C?a`;
    const response = await send("GET", `?${query}`);
    expect(response.json()).toEqual([expectedJson]);
    expect(response.headers["x-total-count"]).toBe("7");
    expect(response.headers["link"]).toMatch(/offset=3&[^>]*&search=%25_%5C%3Fa>; rel="next"/);
    expect(request()).toMatchObject({
      limit: 1,
      offset: 2,
      clientId,
      type: BeneficiaryType.COMPANY,
      countryCode: "DZA",
      display: false,
      search: "%_\\?a",
    });
  });

  test("GET /beneficiaries, if the total is capped, links to the next page only from a full page, and never to the last page", async () => {
    const linkRelationsOf = async (query: string) => {
      const { headers } = await send("GET", `?search=a&${query}`);
      expect([headers["x-total-count"], headers["x-total-count-capped"]]).toEqual(["1000", "true"]);
      return [...String(headers["link"]).matchAll(/rel="(\w+)"/g)].map(([, relation]) => relation);
    };
    gateway.behaviour.beneficiaries.listBeneficiaries = async () => ({
      beneficiaries: [aBeneficiary()],
      total: 1_000,
      totalIsCapped: true,
    });
    expect(await linkRelationsOf("limit=1&offset=2000")).toEqual(["first", "prev", "next"]);
    expect(await linkRelationsOf("limit=2&offset=2000")).toEqual(["first", "prev"]);
  });

  test("GET /beneficiaries uses limit 50 and offset 0 by default and includes hidden beneficiaries", async () => {
    gateway.behaviour.beneficiaries.listBeneficiaries = async () => ({ beneficiaries: [], total: 0 });
    expect((await send("GET")).body).toBe("[]");
    expect(request()).toMatchObject({ limit: 50, offset: 0 });
    expect(request()).not.toHaveProperty("display");
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=ten",
    "offset=-1",
    "client_id=x",
    "client_id=",
    "beneficiary_type=person",
    "country_code=DZ",
    "country_code=dza",
    "display=1",
    "display=",
    "search=",
    `search=${"a".repeat(101)}`,
    `search=${"a".repeat(10_240)}`,
    `search=${encodeURIComponent("ع".repeat(101))}`,
    "search=%00",
    "search=%0A",
    "search=%ff",
    "search=a&search=b",
  ])("GET /beneficiaries returns 422 with the name of the parameter for the query ?%s", async (query) => {
    const response = await send("GET", `?${query}`);
    expect(response.json()).toMatchObject({ status: 422, errors: [{ parameter: query.split("=")[0] }] });
    expect(gateway.received).toEqual([]);
  });

  test.each(["a", "a".repeat(100), "ع".repeat(100), "😀".repeat(100), "' or ''='", " "])(
    "GET /beneficiaries accepts the search %j",
    async (search) => {
      gateway.behaviour.beneficiaries.listBeneficiaries = async () => ({ beneficiaries: [], total: 0 });
      expect((await send("GET", `?search=${encodeURIComponent(search)}`)).statusCode).toBe(200);
      expect(request()).toMatchObject({ search });
    },
  );
});

test("DELETE and PATCH /beneficiaries/{id} return 405", async () => {
  for (const method of ["DELETE", "PATCH"] as const) {
    const response = await send(method, `/${id}`);
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, "GET, HEAD, PUT"]);
  }
});

test("the routes of beneficiaries require the key of a business", async () => {
  const asAdmin = await gateway.app.inject({ url: "/api/v1/beneficiaries", headers: gateway.admin.headers });
  expect(asAdmin.json()).toMatchObject({ status: 403, code: "business_key_required" });
  expect((await gateway.app.inject({ url: "/api/v1/beneficiaries" })).statusCode).toBe(401);
});
