import { CustomerFieldRule, PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { DomainError } from "@amana/rpc";
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

const id = "019a0000-0000-7000-8000-000000000002";
const at = 1_795_170_000_000n;
const aLink = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  name: "Cours d'arabe",
  amountMinor: 500_000n,
  currency: "DZD",
  language: "FR",
  customerFields: { name: CustomerFieldRule.REQUIRED, email: CustomerFieldRule.OPTIONAL, phone: CustomerFieldRule.HIDDEN },
  metadata: '{"b":1.0,"a":"\\u00e9"}',
  status: PaymentLinkStatus.ACTIVE,
  url: "https://pay.example/pay/3q2bPq9tR1yJ0c8mXw7LkA",
  paymentsPaid: 2,
  amountPaidMinor: 1_000_000n,
  amountRefundedMinor: 125_000n,
  createdAtMs: at,
  updatedAtMs: at,
  ...fields,
});
const body = { name: "Cours d'arabe", amount: "5000.00" };

const send = (method: "GET" | "POST" | "PATCH", url: string, payload?: object | string) =>
  gateway.app.inject({
    method,
    url: `/api/v1/payment-links${url}`,
    headers: { ...gateway.business.headers, ...(payload === undefined ? {} : { "content-type": "application/json" }) },
    ...(payload === undefined ? {} : { payload: typeof payload === "string" ? payload : JSON.stringify(payload) }),
  });

describe("POST /payment-links", () => {
  test("POST /payment-links sends the amount in centimes and customer_fields as enum numbers, and returns 201 with the link", async () => {
    gateway.behaviour.paymentLinks.createPaymentLink = async () => aLink();
    const response = await send(
      "POST",
      "",
      '{"name":"  Cours d\'arabe ","amount":"5000","language":"ar","order_ref":"A-1","customer_fields":{"email":"REQUIRED"},' +
        '"max_payments":3,"expires_at":"2099-01-01T00:00:00Z","metadata":{"b":1.0,"a":"\\u00e9"}}',
    );
    expect(response.statusCode).toBe(201);
    expect(response.headers["location"]).toBe(`/api/v1/payment-links/${id}`);
    expect(gateway.received[0]?.request).toMatchObject({
      name: "Cours d'arabe",
      amountMinor: 500_000n,
      language: "AR",
      orderRef: "A-1",
      customerFields: { name: 0, email: CustomerFieldRule.REQUIRED, phone: 0 },
      maxPayments: 3,
      expiresAtMs: BigInt(Date.parse("2099-01-01T00:00:00Z")),
      metadata: '{"b":1.0,"a":"\\u00e9"}',
    });
    expect(gateway.received[0]?.request).not.toHaveProperty("amountMinMinor", expect.anything());
    expect(response.body).toContain('"metadata":{"b":1.0,"a":"\\u00e9"}}');
    expect(response.json()).toMatchObject({
      id,
      business_id: gateway.business.businessId,
      status: "ACTIVE",
      amount: "5000.00",
      customer_fields: { name: "REQUIRED", email: "OPTIONAL", phone: "HIDDEN" },
      url: "https://pay.example/pay/3q2bPq9tR1yJ0c8mXw7LkA",
      payments_paid: 2,
      amount_paid: "10000.00",
      amount_refunded: "1250.00",
      created_at: "2026-11-20T10:20:00.000Z",
    });
  });

  test("POST /payment-links sends a range of amounts to the payments service, and uses the language FR by default", async () => {
    gateway.behaviour.paymentLinks.createPaymentLink = async () =>
      aLink({ amountMinor: undefined, amountMinMinor: 5_000n, amountMaxMinor: 900_000n });
    const response = await send("POST", "", { name: "Don", amount_min: "50", amount_max: "9000.00" });
    expect(gateway.received[0]?.request).toMatchObject({ amountMinMinor: 5_000n, amountMaxMinor: 900_000n, language: "FR" });
    expect(response.json()).toMatchObject({ amount_min: "50.00", amount_max: "9000.00" });
    expect(response.json()).not.toHaveProperty("amount");
  });

  test.each([
    ["name", ""],
    ["name", "  "],
    ["name", "é".repeat(121)],
    ["name", 7],
    ["description", "a".repeat(513)],
    ["amount", "49.99"],
    ["amount", 5000],
    ["amount_min", "1"],
    ["amount_max", "1000000000000"],
    ["currency", "EUR"],
    ["language", "de"],
    ["order_ref", "a".repeat(21)],
    ["customer_fields", "REQUIRED"],
    ["customer_fields", { name: "required" }],
    ["customer_fields", { address: "REQUIRED" }],
    ["customer_fields", { name: null }],
    ["success_url", "http://shop.example/"],
    ["fail_url", "javascript:alert(1)"],
    ["conditions_url", "/conditions"],
    ["max_payments", 0],
    ["max_payments", 1_000_001],
    ["max_payments", "3"],
    ["expires_at", "2099-01-01"],
    ["metadata", "x"],
    ["metadata", []],
    ["metadata", { text: "a".repeat(17_000) }],
    ["status", "ACTIVE"],
    ["url", "https://pay.example/"],
    ["payments_paid", 1],
  ])("POST /payment-links rejects %s = %j, and the error has a pointer to the field", async (name, value) => {
    const response = await send("POST", "", { ...body, [name]: value });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}` })]);
    expect(gateway.received).toEqual([]);
  });

  test("POST /payment-links returns a refusal of the payments service with the refusal's pointer", async () => {
    gateway.behaviour.paymentLinks.createPaymentLink = async () => {
      throw new DomainError("invalid", "validation_failed", "Send amount, or amount_min and amount_max.", { pointer: "/amount" });
    };
    const response = await send("POST", "", { name: "Don" });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/amount" }] });
  });
});

describe("GET /payment-links", () => {
  test("GET /payment-links sends the filters to the payments service, and returns an array with the total", async () => {
    gateway.behaviour.paymentLinks.listPaymentLinks = async () => ({ paymentLinks: [aLink()], total: 3 });
    const response = await send("GET", "?limit=1&status=COMPLETED&search=arabe");
    expect(response.headers["x-total-count"]).toBe("3");
    expect(response.json()).toMatchObject([{ id, metadata: { a: "é", b: 1 } }]);
    expect(gateway.received[0]?.request).toMatchObject({ limit: 1, status: PaymentLinkStatus.COMPLETED, search: "arabe" });
  });

  test.each(["status=active", "status=", "search=", "search=%0A", "order_ref=a", "payment_link_id=x"])(
    "GET /payment-links returns 422 for the query ?%s",
    async (query) => {
      const response = await send("GET", `?${query}`);
      expect(response.statusCode).toBe(422);
      expect(gateway.received).toEqual([]);
    },
  );

  test("GET /payment-links/{id} returns the link, and 404 for a malformed id", async () => {
    gateway.behaviour.paymentLinks.getPaymentLink = async () => aLink({ status: PaymentLinkStatus.EXPIRED });
    expect((await send("GET", `/${id}`)).json()).toMatchObject({ id, status: "EXPIRED" });
    expect((await send("GET", "/x")).statusCode).toBe(404);
  });
});

describe("PATCH /payment-links/{id}", () => {
  test("PATCH /payment-links/{id} sends the fields of the request and the names of cleared fields to the payments service", async () => {
    gateway.behaviour.paymentLinks.updatePaymentLink = async () => aLink();
    const response = await send("PATCH", `/${id}`, {
      name: "Cours",
      status: "INACTIVE",
      customer_fields: { phone: "OPTIONAL" },
      max_payments: null,
      success_url: null,
      metadata: {},
    });
    expect(response.statusCode).toBe(200);
    expect(gateway.received[0]?.request).toMatchObject({
      id,
      name: "Cours",
      status: PaymentLinkStatus.INACTIVE,
      customerFields: { name: 0, email: 0, phone: CustomerFieldRule.OPTIONAL },
      metadata: "{}",
      cleared: ["max_payments", "success_url"],
    });
  });

  test.each(["amount", "amount_min", "amount_max", "currency", "language", "order_ref", "url", "payments_paid"])(
    "PATCH /payment-links/{id} returns immutable_field for %s",
    async (name) => {
      const response = await send("PATCH", `/${id}`, { [name]: "5000.00" });
      expect(response.statusCode).toBe(422);
      expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}`, code: "immutable_field" })]);
    },
  );

  test.each([
    ["status", "EXPIRED"],
    ["status", null],
    ["name", null],
    ["customer_fields", null],
    ["metadata", null],
    ["max_payments", 0],
  ])("PATCH /payment-links/{id} rejects %s = %j", async (name, value) => {
    const response = await send("PATCH", `/${id}`, { [name]: value });
    expect(response.statusCode).toBe(422);
    expect(gateway.received).toEqual([]);
  });
});
