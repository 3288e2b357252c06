import { ClientKycStatus, KycLevel, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { clientKycStatuses, countries, renderClient } from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { aPerson } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const id = "019a0000-0000-7000-8000-000000000001";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";

const person = { ...aPerson, country_of_tax_residence: "FRA", email: "amina@example.dz" };
const message = {
  id,
  businessId: "b",
  firstName: "Amina",
  lastName: "Benali",
  dateOfBirth: "1990-05-17",
  gender: "female",
  birthCountry: "DZA",
  nationality: "DZA",
  countryOfTaxResidence: "FRA",
  address: "12 rue Didouche Mourad",
  city: "Alger",
  postcode: "16000",
  countryCode: "DZA",
  email: "amina@example.dz",
  kycLevel: KycLevel.FULL_KYC,
  kycStatus: ClientKycStatus.NOT_STARTED,
  riskLevel: RiskLevel.LOW,
  createdAtMs: at,
  updatedAtMs: at,
};
const expectedJson = {
  id,
  organization_id: 7,
  ...person,
  blocked: false,
  is_blacklisted: false,
  kyc_level: "FULL_KYC",
  kyc_status: "NOT_STARTED",
  risk_level: "Low",
  created_at: atText,
  updated_at: atText,
};
const optional = {
  blacklisted_comment: "Fraude",
  external_client_code: "C-1",
  kyc_note: "vu à l'agence",
  mobile_phone_number: "+213550123456",
  planned_expenditure: "1000 à 2000",
  planned_income: "3000",
  second_email: "second@example.dz",
  second_mobile_phone_number: "+213660123456",
  state_province: "Alger",
};
const optionalMessage = {
  blacklistedComment: "Fraude",
  externalClientCode: "C-1",
  kycNote: "vu à l'agence",
  mobilePhoneNumber: "+213550123456",
  plannedExpenditure: "1000 à 2000",
  plannedIncome: "3000",
  secondEmail: "second@example.dz",
  secondMobilePhoneNumber: "+213660123456",
  stateProvince: "Alger",
};

const send = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, payload?: object, headers = gateway.business.headers) =>
  gateway.app.inject({ method, url: `/api/v1/clients${path}`, headers, ...(payload === undefined ? {} : { payload }) });
const received = () => gateway.received.at(-1)?.request;

describe("POST /clients/person", () => {
  test("POST /clients/person returns 201 with the client, its organization and the Location", async () => {
    gateway.behaviour.clients.createPerson = async () => message;
    const response = await send("POST", "/person", person);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/clients/${id}`]);
    expect(response.json()).toEqual(expectedJson);
    expect(gateway.received).toHaveLength(1);
  });

  test("POST /clients/person accepts each optional field, and maps public enum values to the values of the RPC", async () => {
    gateway.behaviour.clients.createPerson = async () => ({ ...message, ...optionalMessage, middleName: "Lila" });
    const response = await send("POST", "/person", {
      ...person,
      ...optional,
      middle_name: "Lila",
      kyc_level: "DOC_ONLY",
      risk_level: "High",
      blocked: true,
      is_blacklisted: true,
    });
    expect(response.json()).toEqual({ ...expectedJson, ...optional, middle_name: "Lila" });
    expect(received()).toMatchObject({
      ...optionalMessage,
      middleName: "Lila",
      kycLevel: KycLevel.DOC_ONLY,
      riskLevel: RiskLevel.HIGH,
      blocked: true,
      isBlacklisted: true,
    });
  });

  test("POST /clients/person removes leading and trailing spaces from strings, and normalizes the strings to NFC", async () => {
    gateway.behaviour.clients.createPerson = async () => message;
    await send("POST", "/person", {
      ...person,
      first_name: "  Ame\u0301lie ",
      city: `${"a".repeat(199)}e\u0301`,
      email: " a@b.dz ",
    });
    expect(received()).toMatchObject({ firstName: "Am\u00e9lie", city: `${"a".repeat(199)}\u00e9`, email: "a@b.dz" });
  });

  test("POST /clients/person accepts each country of ISO 3166-1", async () => {
    gateway.behaviour.clients.createPerson = async () => message;
    for (const { alpha3 } of countries) {
      expect([alpha3, (await send("POST", "/person", { ...person, nationality: alpha3 })).statusCode]).toEqual([alpha3, 201]);
    }
  });

  test("POST /clients/person returns an error for each missing field", async () => {
    const response = await send("POST", "/person", {});
    expect([response.statusCode, response.json().code]).toEqual([422, "validation_failed"]);
    expect(
      response
        .json()
        .errors.map((error: { pointer: string }) => error.pointer)
        .sort(),
    ).toEqual(
      Object.keys(person)
        .map((name) => `/${name}`)
        .sort(),
    );
    expect(gateway.received).toEqual([]);
  });

  const texts = ["", "  ", 7, null, true, {}, ["a"], "a".repeat(201), "a\0b", "\ud800"];
  const countryCodes = ["", "dza", "DZ", "XKX", "ZZZ", "012", " DZA", 12, null];
  const phones = ["", "0550123456", "+0550123456", "+2135501234567890", "+213 550 123 456", "+213", 213, null];
  // The gateway rejects these characters, because the lower case of non-ASCII letters would depend
  // on the locale of the database.
  const foreignCharacters = ["İ@b.dz", "ß@b.dz", "\u212a@b.dz", "a@bücher.dz"];
  const emails = ["", "a", "a@b", "@b.dz", "a b@c.dz", `${"a".repeat(250)}@b.dz`, 7, null, ...foreignCharacters];
  const days = [
    "",
    "17/05/1990",
    "1990-5-17",
    "1990-02-30",
    "2023-02-29",
    "1900-02-29",
    "1899-12-31",
    "1990-13-01",
    "1990-00-10",
    "1990-05-00",
    "1990-05-17T00:00:00Z",
    "19900517",
    19900517,
    null,
  ];
  const invalidValues: Record<string, readonly unknown[]> = {
    first_name: texts,
    middle_name: texts,
    last_name: texts,
    date_of_birth: days,
    gender: ["", "Male", "F", "other", null, 1],
    birth_country: countryCodes,
    nationality: countryCodes,
    country_of_tax_residence: countryCodes,
    address: texts,
    city: texts,
    postcode: [...texts, 16000],
    country_code: countryCodes,
    email: emails,
    kyc_level: ["", "full_kyc", "NONE", null],
    risk_level: ["", "low", "LOW", "Critical", null],
    blocked: ["true", 1, null, ""],
    is_blacklisted: ["false", 0, null],
    blacklisted_comment: texts,
    external_client_code: texts,
    kyc_note: texts,
    mobile_phone_number: phones,
    second_mobile_phone_number: phones,
    planned_expenditure: [...texts, 1000.5],
    planned_income: [...texts, 3000],
    second_email: emails,
    state_province: texts,
    // Fields that the caller cannot set.
    id: [id],
    organization_id: [7],
    kyc_status: ["VALIDATED"],
    created_at: [atText],
    frist_name: ["Amina"],
  };
  test.each(Object.keys(invalidValues))(
    "POST /clients/person rejects invalid values of %s, and the error has a pointer to the field",
    async (name) => {
      for (const value of invalidValues[name] ?? []) {
        const response = await send("POST", "/person", { ...person, [name]: value });
        expect([value, response.statusCode]).toEqual([value, 422]);
        expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}` })]);
      }
      expect(gateway.received).toEqual([]);
    },
  );

  test.each([
    ["email_taken", "conflict", 409],
    ["client_underage", "invalid", 422],
  ] as const)("POST /clients/person returns the refusal %s unchanged", async (code, kind, status) => {
    gateway.behaviour.clients.createPerson = async () => {
      throw new DomainError(kind, code, "The request was refused.", { pointer: "/email" });
    };
    const response = await send("POST", "/person", person);
    expect([response.statusCode, response.json()]).toEqual([
      status,
      expect.objectContaining({
        code,
        detail: "The request was refused.",
        errors: [expect.objectContaining({ pointer: "/email" })],
      }),
    ]);
  });

  test("POST /clients/person requires the key of a business", async () => {
    expect((await send("POST", "/person", person, gateway.admin.headers)).json()).toMatchObject({
      status: 403,
      code: "business_key_required",
    });
  });
});

describe("GET /clients/{id}", () => {
  test.each([`/${id}`, `/person/${id}`, `/${id.toUpperCase()}`])("GET /clients%s returns the client", async (path) => {
    gateway.behaviour.clients.getClient = async () => message;
    const response = await send("GET", path);
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    expect(received()).toMatchObject({ id });
  });

  test("GET /clients/{id} returns the same 404 for an unknown and a malformed id", async () => {
    gateway.behaviour.clients.getClient = async () => {
      throw new DomainError("not_found", "not_found", "There is no such client.");
    };
    const { request_id: _a, instance: _b, ...unknown } = (await send("GET", `/${id}`)).json();
    expect(unknown).toMatchObject({ status: 404, code: "not_found" });
    for (const path of ["/nonsense", "/person", "/person/nonsense"]) {
      const { request_id: _c, instance: _d, ...malformed } = (await send("GET", path)).json();
      expect(malformed).toEqual(unknown);
    }
  });

  test("DELETE /clients/{id} returns 405", async () => {
    for (const path of [`/${id}`, `/person/${id}`]) expect((await send("DELETE", path)).statusCode).toBe(405);
  });
});

describe("GET /clients", () => {
  test("GET /clients returns an array with the total and links to other pages", async () => {
    gateway.behaviour.clients.listClients = async () => ({ clients: [message, message], total: 7 });
    const response = await send("GET", "?limit=2&offset=2");
    expect(response.json()).toEqual([expectedJson, expectedJson]);
    expect(response.headers["x-total-count"]).toBe("7");
    for (const rel of ["first", "prev", "next", "last"]) expect(response.headers["link"]).toContain(`rel="${rel}"`);
    expect(received()).toMatchObject({ limit: 2, offset: 2, kycStatus: 0, riskLevel: 0 });
  });

  test("GET /clients sends each filter to the clients service", async () => {
    gateway.behaviour.clients.listClients = async () => ({ clients: [], total: 0 });
    const query = new URLSearchParams({
      organization_id: "7",
      kyc_status: "VALIDATED",
      risk_level: "High",
      is_blacklisted: "true",
      blocked: "false",
      search: "Ame\u0301lie %_\\'",
      email: "Amina@Example.dz",
      external_client_code: "C-1",
    });
    expect((await send("GET", `?${query}`)).statusCode).toBe(200);
    expect(received()).toMatchObject({
      limit: 50,
      offset: 0,
      kycStatus: ClientKycStatus.VALIDATED,
      riskLevel: RiskLevel.HIGH,
      isBlacklisted: true,
      blocked: false,
      search: "Am\u00e9lie %_\\'",
      email: "Amina@Example.dz",
      externalClientCode: "C-1",
    });
  });

  test("GET /clients accepts each value of the filter kyc_status", async () => {
    gateway.behaviour.clients.listClients = async () => ({ clients: [], total: 0 });
    for (const status of clientKycStatuses) {
      expect((await send("GET", `?kyc_status=${status}`)).statusCode).toBe(200);
      expect(received()).toMatchObject({ kycStatus: ClientKycStatus[status] });
    }
  });

  test("GET /clients returns each client with the organization id of the calling business", async () => {
    gateway.behaviour.clients.listClients = async () => ({ clients: [message], total: 1 });
    const otherKey = gateway.aKey({ organizationId: 8 });
    expect((await send("GET", "?organization_id=8", undefined, otherKey.headers)).json()).toEqual([
      { ...expectedJson, organization_id: 8 },
    ]);
    expect((await send("GET", "?organization_id=7", undefined, otherKey.headers)).json()).toEqual([]);
    expect((await send("GET", "?organization_id=7")).json()).toEqual([expectedJson]);
  });

  test("GET /clients returns an empty list for another organization id, without a call to the clients service", async () => {
    const response = await send("GET", "?organization_id=8");
    expect([response.statusCode, response.json(), response.headers["x-total-count"]]).toEqual([200, [], "0"]);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["offset=-1", "offset"],
    ["organization_id=x", "organization_id"],
    ["organization_id=-1", "organization_id"],
    ["organization_id=1.5", "organization_id"],
    ["kyc_status=validated", "kyc_status"],
    ["kyc_status=APPROVED", "kyc_status"],
    ["kyc_status=", "kyc_status"],
    ["risk_level=high", "risk_level"],
    ["is_blacklisted=1", "is_blacklisted"],
    ["blocked=yes", "blocked"],
    ["search=", "search"],
    [`search=${"a".repeat(101)}`, "search"],
    [`search=${"a".repeat(10_240)}`, "search"],
    ["search=%00", "search"],
    ["search=%0A", "search"],
    ["search=%FF", "search"],
    ["search=a&search=b", "search"],
    ["email=nonsense", "email"],
    ["external_client_code=", "external_client_code"],
  ])("GET /clients returns 422 with the name of the parameter for the query ?%s", async (query, parameter) => {
    const response = await send("GET", `?${query}`);
    expect([response.statusCode, response.json().errors]).toEqual([422, [expect.objectContaining({ parameter })]]);
    expect(gateway.received).toEqual([]);
  });

  test("GET /clients rejects a misspelled filter and lists the known filters", async () => {
    const response = await send("GET", "?state=PAID&blocked=true");
    expect([response.statusCode, response.json().errors]).toEqual([
      422,
      [
        {
          parameter: "state",
          code: "unknown_parameter",
          message:
            "is unknown; known parameters: limit, offset, organization_id, kyc_status, risk_level, is_blacklisted, blocked, search, email, external_client_code",
        },
      ],
    ]);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    ["GET", `/${id}?expand=accounts`],
    ["PUT", `/person/${id}?__proto__=x`],
  ] as const)("%s /clients%s rejects the query parameter with the code unknown_parameter", async (method, path) => {
    const response = await send(method, path, method === "GET" ? undefined : {});
    expect([response.statusCode, response.json().errors]).toEqual([
      422,
      [expect.objectContaining({ code: "unknown_parameter", message: "is unknown; known parameters: none" })],
    ]);
  });
});

describe("PUT /clients/person/{id}", () => {
  beforeEach(() => {
    gateway.behaviour.clients.updatePerson = async () => message;
  });

  test("PUT /clients/person/{id} sends only the fields of the request to the clients service, and returns the client", async () => {
    const response = await send("PUT", `/person/${id}`, { city: "Oran", blocked: true, risk_level: "Medium", ...optional });
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    const { $typeName: _, ...request } = received() as Record<string, unknown>;
    expect(request).toEqual({ id, city: "Oran", blocked: true, riskLevel: RiskLevel.MEDIUM, ...optionalMessage, cleared: [] });
  });

  test("PUT /clients/person/{id} sends no field to the clients service for an empty object", async () => {
    expect((await send("PUT", `/person/${id}`, {})).statusCode).toBe(200);
    const { $typeName: _, ...request } = received() as Record<string, unknown>;
    expect(request).toEqual({ id, riskLevel: 0, cleared: [] });
  });

  test("PUT /clients/person/{id} clears each optional field that is null in the request", async () => {
    const cleared = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));
    expect((await send("PUT", `/person/${id}`, cleared)).statusCode).toBe(200);
    expect((received() as { cleared: string[] }).cleared.sort()).toEqual(Object.keys(optional).sort());
  });

  test.each([
    "id",
    "organization_id",
    "first_name",
    "middle_name",
    "last_name",
    "date_of_birth",
    "gender",
    "birth_country",
    "nationality",
    "country_of_tax_residence",
    "kyc_level",
    "kyc_status",
    "created_at",
    "updated_at",
  ])("PUT /clients/person/{id} rejects %s as immutable, even with its current value", async (name) => {
    const value = { ...expectedJson, middle_name: "Lila" }[name as "id"];
    for (const rejectedValue of [value, null, "other"]) {
      const response = await send("PUT", `/person/${id}`, { [name]: rejectedValue });
      expect([response.statusCode, response.json().code]).toEqual([422, "immutable_field"]);
      expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}`, code: "immutable_field" })]);
    }
    expect(gateway.received).toEqual([]);
  });

  test.each(["address", "city", "postcode", "country_code", "email", "blocked", "is_blacklisted", "risk_level"])(
    "PUT /clients/person/{id} rejects null and an empty string for %s",
    async (name) => {
      for (const value of [null, ""]) {
        const response = await send("PUT", `/person/${id}`, { [name]: value });
        expect([response.statusCode, response.json().errors]).toEqual([422, [expect.objectContaining({ pointer: `/${name}` })]]);
      }
    },
  );

  test("PUT /clients/person/{id} rejects an empty string for optional fields", async () => {
    for (const name of Object.keys(optional)) {
      const response = await send("PUT", `/person/${id}`, { [name]: "" });
      expect([name, response.statusCode]).toEqual([name, 422]);
    }
    expect(gateway.received).toEqual([]);
  });

  test("PUT /clients/person/{id} rejects an unknown field with an error that contains its name", async () => {
    expect((await send("PUT", `/person/${id}`, { blokced: true })).json().errors).toEqual([
      expect.objectContaining({ pointer: "/blokced", code: "unknown_field" }),
    ]);
  });
});

test("renderClient returns exactly the documented fields of a client", () => {
  const view = renderClient(
    { $typeName: "clients.v1.Client", ...message, blocked: false, isBlacklisted: false, ...optionalMessage, middleName: "x" },
    7,
  );
  const documentedFields = `id organization_id first_name last_name middle_name date_of_birth gender birth_country nationality
    country_of_tax_residence address city postcode country_code email blocked is_blacklisted kyc_level kyc_status risk_level
    created_at updated_at blacklisted_comment external_client_code kyc_note mobile_phone_number planned_expenditure
    planned_income second_email second_mobile_phone_number state_province`;
  expect(Object.keys(view).sort()).toEqual(documentedFields.split(/\s+/).sort());
});
