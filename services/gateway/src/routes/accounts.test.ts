import { AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
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
  for (const rpc of ["openAccount", "updateAccount", "getAccount"] as const) {
    gateway.behaviour.accounts[rpc] = async () => anAccount();
  }
});

const id = "019a0000-0000-7000-8000-000000000001";
const clientId = "019a0000-0000-7000-8000-000000000002";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const anAccount = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  clientId,
  accountName: "Household",
  accountNumber: "00799999002345678941",
  type: AccountType.CURRENT,
  currency: "DZD",
  status: AccountStatus.PENDING,
  currentBalanceMinor: 0n,
  availableBalanceMinor: 0n,
  reservedBalanceMinor: 0n,
  createdAtMs: at,
  updatedAtMs: at,
  ...fields,
});
const expectedJson = {
  id,
  client_id: clientId,
  account_name: "Household",
  account_number: "00799999002345678941",
  account_type: "CURRENT",
  currency: "DZD",
  current_balance: "0.00",
  available_balance: "0.00",
  reserved_balance: "0.00",
  status: "PENDING",
  opened_date: atText,
  created_at: atText,
  updated_at: atText,
};
const body = { client_id: clientId, account_type: "CURRENT", account_name: "Household", currency: "DZD" };

const send = (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path = "", payload?: object, headers: object = {}) =>
  gateway.app.inject({
    method,
    url: `/api/v1/accounts${path}`,
    headers: { ...gateway.business.headers, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const request = () => gateway.received[0]?.request;

const invalidAmounts = [5000, "1e3", "-1", "+1", "1,00", "1.001", " 1", "", "0", "0.00", "000.0", "٥", "1".repeat(16), true];
const invalidValues: readonly (readonly [string, unknown])[] = [
  ...["", "  ", 7, null, "a".repeat(201)].map((value) => ["account_name", value] as const),
  ...["daily_limit", "monthly_limit", "yearly_limit"].flatMap((name) => invalidAmounts.map((value) => [name, value] as const)),
  ...["", 7, "a".repeat(513)].map((value) => ["description", value] as const),
  ...["", 7, "a".repeat(256), "a\u0000"].map((value) => ["external_account_id", value] as const),
  ["limit", "5"],
  ["business_id", clientId],
];

describe("POST /accounts", () => {
  test("POST /accounts returns 201 with the Location and the account", async () => {
    const response = await send("POST", "", body);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/accounts/${id}`]);
    expect(response.json()).toEqual(expectedJson);
    const { $typeName: _, ...sent } = request() as Record<string, unknown>;
    expect(sent).toEqual({ clientId, type: AccountType.CURRENT, accountName: "Household", currency: "DZD" });
  });

  test("POST /accounts sends each field to the clients service", async () => {
    const limits = { daily_limit: "100", monthly_limit: "1000.5", yearly_limit: "999999999999999.99" };
    const response = await send("POST", "", {
      ...body,
      ...limits,
      account_name: " Home ",
      description: "d",
      external_account_id: "x",
    });
    expect(response.statusCode).toBe(201);
    expect(request()).toMatchObject({
      accountName: "Home",
      dailyLimit: "100",
      monthlyLimit: "1000.5",
      yearlyLimit: "999999999999999.99",
      description: "d",
      externalAccountId: "x",
    });
  });

  test.each(["client_id", "account_type", "account_name", "currency"])("POST /accounts requires %s", async (name) => {
    const response = await send("POST", "", { ...body, [name]: undefined });
    expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}`, code: "required" }] });
    expect(gateway.received).toEqual([]);
  });

  const invalidOnCreation: readonly (readonly [string, unknown])[] = [
    ["client_id", "x"],
    ["client_id", null],
    ["account_type", "current"],
    ["account_type", "LOAN"],
    ["account_type", null],
    ["currency", "dzd"],
    ["currency", "DZ"],
    ["currency", "012"],
    ["currency", null],
    ["status", "ACTIVE"],
    ["account_number", "00799999002345678941"],
    ["current_balance", "5.00"],
  ];

  test.each([...invalidValues, ...invalidOnCreation])(
    "POST /accounts rejects %s = %j, and the error has a pointer to the field",
    async (name, value) => {
      const response = await send("POST", "", { ...body, [name]: value });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}` }] });
      expect(gateway.received).toEqual([]);
    },
  );

  test.each([
    ["invalid", "currency_not_supported", 422, "/currency"],
    ["invalid", "account_limits_out_of_order", 422, "/daily_limit"],
    ["not_found", "client_not_found", 404, "/client_id"],
    ["conflict", "client_blocked", 409, ""],
    ["conflict", "external_account_id_taken", 409, "/external_account_id"],
  ] as const)(
    "POST /accounts maps a refusal of the kind %s with the code %s to status %i",
    async (kind, code, status, pointer) => {
      gateway.behaviour.accounts.openAccount = async () => {
        throw new DomainError(kind, code, "The request was refused.", { pointer });
      };
      expect((await send("POST", "", body)).json()).toMatchObject({ status, code, detail: "The request was refused." });
    },
  );

  test("POST /accounts forwards the Idempotency-Key together with the request's route", async () => {
    await send("POST", "", body, { "idempotency-key": "k-1" });
    expect(gateway.received[0]?.call.idempotencyKey).toMatchObject({ key: "k-1", route: "POST /api/v1/accounts" });
  });
});

describe("a rendered account", () => {
  test("the gateway returns an account with two decimals in each amount and with all optional fields that have a value", async () => {
    gateway.behaviour.accounts.getAccount = async () =>
      anAccount({
        type: AccountType.SAVINGS,
        status: AccountStatus.CLOSED,
        currency: "EUR",
        currentBalanceMinor: 500_005n,
        availableBalanceMinor: 500_000n,
        reservedBalanceMinor: 5n,
        dailyLimitMinor: 1n,
        monthlyLimitMinor: 10n,
        yearlyLimitMinor: 99_999_999_999_999_999n,
        closedAtMs: at,
        lastActivityAtMs: at,
        description: "d",
        externalAccountId: "x",
      });
    expect((await send("GET", `/${id}`)).json()).toEqual({
      ...expectedJson,
      account_type: "SAVINGS",
      status: "CLOSED",
      currency: "EUR",
      current_balance: "5000.05",
      available_balance: "5000.00",
      reserved_balance: "0.05",
      daily_limit: "0.01",
      monthly_limit: "0.10",
      yearly_limit: "999999999999999.99",
      closed_date: atText,
      last_activity_date: atText,
      description: "d",
      external_account_id: "x",
    });
  });
});

describe("PATCH /accounts/{id}", () => {
  test("PATCH /accounts/{id} sends only the fields of the request to the clients service", async () => {
    const response = await send("PATCH", `/${id}`, { account_name: "Home", daily_limit: "10.00" });
    expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    const { $typeName: _, ...sent } = request() as Record<string, unknown>;
    expect(sent).toEqual({ id, accountName: "Home", dailyLimit: "10.00", cleared: [] });
  });

  test("PATCH /accounts/{id} clears each optional field that is null in the request", async () => {
    const names = ["description", "external_account_id", "daily_limit", "monthly_limit", "yearly_limit"];
    expect((await send("PATCH", `/${id}`, Object.fromEntries(names.map((name) => [name, null])))).statusCode).toBe(200);
    expect(request()).toMatchObject({ cleared: names });
  });

  test.each(invalidValues)(
    "PATCH /accounts/{id} rejects %s = %j, and the error has a pointer to the field",
    async (name, value) => {
      const response = await send("PATCH", `/${id}`, { [name]: value });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}` }] });
      expect(gateway.received).toEqual([]);
    },
  );
});

describe.each([
  ["activate", "ActivateAccount"],
  ["suspend", "SuspendAccount"],
  ["reactivate", "ReactivateAccount"],
  ["close", "CloseAccount"],
] as const)("POST /accounts/{id}/%s", (verb, rpc) => {
  test.each([undefined, {}])(`POST /accounts/{id}/${verb} returns 200 with the account for the body %j`, async (payload) => {
    gateway.behaviour.accounts[`${verb}Account`] = async () => anAccount({ status: AccountStatus.ACTIVE });
    const response = await send("POST", `/${id}/${verb}`, payload);
    expect([response.statusCode, response.json().status]).toEqual([200, "ACTIVE"]);
    expect(gateway.received[0]).toMatchObject({ rpc, request: { id } });
  });

  test(`POST /accounts/{id}/${verb} rejects a body with fields, rejects a malformed id, and forwards the Idempotency-Key`, async () => {
    gateway.behaviour.accounts[`${verb}Account`] = async () => anAccount();
    expect((await send("POST", `/${id}/${verb}`, { reason: "x" })).statusCode).toBe(422);
    expect((await send("POST", `/x/${verb}`)).statusCode).toBe(404);
    expect(gateway.received).toEqual([]);
    await send("POST", `/${id}/${verb}`, undefined, { "idempotency-key": "k-1" });
    expect(gateway.received[0]?.call.idempotencyKey).toMatchObject({ key: "k-1", route: `POST /api/v1/accounts/{id}/${verb}` });
  });

  test.each(["invalid_status_transition", "client_blocked", "client_not_verified", "account_balance_not_zero"])(
    `POST /accounts/{id}/${verb} maps the refusal %s to status 409`,
    async (code) => {
      gateway.behaviour.accounts[`${verb}Account`] = async () => {
        throw new DomainError("conflict", code, "The request was refused.", { members: { account_status: "CLOSED" } });
      };
      const response = await send("POST", `/${id}/${verb}`);
      expect(response.json()).toMatchObject({ status: 409, code, detail: "The request was refused.", account_status: "CLOSED" });
    },
  );
});

describe("GET /accounts", () => {
  test("GET /accounts/{id} returns the same 404 for an unknown and a malformed id", async () => {
    gateway.behaviour.accounts.getAccount = async () => {
      throw new DomainError("not_found", "not_found", "There is no such account.");
    };
    const headers = { "x-request-id": "same-request" };
    const notFound = await send("GET", `/${uuidv7()}`, undefined, headers);
    expect(notFound.json()).toMatchObject({ status: 404, code: "not_found" });
    for (const malformedId of ["x", "%00", `${id}0`])
      expect((await send("GET", `/${malformedId}`, undefined, headers)).body).toBe(notFound.body);
  });

  test("GET /accounts sends each filter to the clients service, and returns an array of accounts and the total", async () => {
    gateway.behaviour.accounts.listAccounts = async () => ({ accounts: [anAccount()], total: 7 });
    const query = `limit=1&offset=2&client_id=${clientId}&account_type=ESCROW&status=CLOSED&currency=EUR&search=h`;
    const response = await send("GET", `?${query}`);
    expect(response.json()).toEqual([expectedJson]);
    expect(response.headers["x-total-count"]).toBe("7");
    expect(request()).toMatchObject({
      limit: 1,
      offset: 2,
      clientId,
      type: AccountType.ESCROW,
      status: AccountStatus.CLOSED,
      currency: "EUR",
      search: "h",
    });
  });

  test("GET /accounts uses limit 50 and offset 0 by default", async () => {
    gateway.behaviour.accounts.listAccounts = async () => ({ accounts: [], total: 0 });
    expect((await send("GET")).body).toBe("[]");
    expect(request()).toMatchObject({ limit: 50, offset: 0, type: 0, status: 0 });
  });

  test.each([
    "limit=0",
    "limit=101",
    "offset=-1",
    "client_id=x",
    "account_type=current",
    "status=OPEN",
    "currency=eur",
    "search=",
    `search=${"a".repeat(101)}`,
    "search=%00",
    "search=%0A",
  ])("GET /accounts returns 422 with the name of the parameter for the query ?%s", async (query) => {
    const response = await send("GET", `?${query}`);
    expect(response.json()).toMatchObject({ status: 422, errors: [{ parameter: query.split("=")[0] }] });
    expect(gateway.received).toEqual([]);
  });
});

test("DELETE and PUT /accounts/{id} return 405", async () => {
  for (const method of ["DELETE", "PUT"] as const) {
    const response = await send(method, `/${id}`);
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, "GET, HEAD, PATCH"]);
  }
});

test("the routes of accounts require the key of a business", async () => {
  const asAdmin = await gateway.app.inject({ url: "/api/v1/accounts", headers: gateway.admin.headers });
  expect(asAdmin.json()).toMatchObject({ status: 403, code: "business_key_required" });
  expect((await gateway.app.inject({ url: "/api/v1/accounts" })).statusCode).toBe(401);
});
