import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { DomainError } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
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
const aPayment = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  amountMinor: 500_000n,
  currency: "DZD",
  status: PaymentStatus.PENDING,
  language: "FR",
  successUrl: "https://shop.example/paid",
  failUrl: "https://shop.example/failed",
  processorOrderNumber: "0000000001",
  createdAtMs: 1_795_170_000_000n,
  updatedAtMs: 1_795_170_000_000n,
  ...fields,
});
const body = { amount: "5000.00", success_url: "https://shop.example/paid", fail_url: "https://shop.example/failed" };

const send = (method: "GET" | "POST" | "PATCH", url: string, payload?: object | string, headers: Record<string, string> = {}) =>
  gateway.app.inject({
    method,
    url: `/api/v1${url}`,
    headers: {
      ...gateway.business.headers,
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload: typeof payload === "string" ? payload : JSON.stringify(payload) }),
  });

describe("POST /payments", () => {
  test("POST /payments sends the amount in centimes and returns 201 with the Location", async () => {
    gateway.behaviour.payments.createPayment = async () => aPayment({ formUrl: "https://processor.example/form" });
    const response = await send("POST", "/payments", { ...body, language: "en", order_ref: "A-1", currency: "DZD" });
    expect(response.statusCode).toBe(201);
    expect(response.headers["location"]).toBe(`/api/v1/payments/${id}`);
    expect(response.json()).toEqual({
      id,
      business_id: gateway.business.businessId,
      amount: "5000.00",
      currency: "DZD",
      status: "PENDING",
      language: "FR",
      success_url: body.success_url,
      fail_url: body.fail_url,
      processor_order_number: "0000000001",
      created_at: "2026-11-20T10:20:00.000Z",
      updated_at: "2026-11-20T10:20:00.000Z",
      form_url: "https://processor.example/form",
    });
    expect(gateway.received[0]?.request).toMatchObject({ amountMinor: 500_000n, language: "EN", orderRef: "A-1" });
    expect(gateway.received[0]?.call.caller).toMatchObject({ role: "business", businessId: gateway.business.businessId });
    expect(gateway.received[0]?.call.remainingMs()).toBeGreaterThan(30_000);
  });

  test("POST /payments returns an error with a pointer for each invalid field", async () => {
    const response = await send("POST", "/payments", { amount: 5000, fail_url: "javascript:alert(1)", amont: "1" });
    expect(response.statusCode).toBe(422);
    const { code, errors } = response.json();
    expect(code).toBe("validation_failed");
    expect(errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])).toEqual([
      ["/amount", "invalid"],
      ["/fail_url", "invalid"],
      ["/amont", "unknown_field"],
      ["/success_url", "required"],
    ]);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    5000,
    5e3,
    "1e3",
    "1e400",
    "1,00",
    "+1",
    "-100",
    " 100 ",
    "100 ",
    ".5",
    "100.",
    "100.001",
    "٥٠٠٠",
    "0x64",
    "",
    "NaN",
    "49.99",
    "0",
    "9".repeat(40),
    "100\n",
    null,
    true,
    ["100"],
    { amount: "100" },
  ])("POST /payments rejects the amount %j", async (amount) => {
    const response = await send("POST", "/payments", { ...body, amount });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer: "/amount", code: "invalid" })]);
  });

  test.each(["50", "50.0", "50.00", "999999999999.99", "000000000000100"])(
    "POST /payments accepts the amount %j",
    async (amount) => {
      gateway.behaviour.payments.createPayment = async () => aPayment();
      expect((await send("POST", "/payments", { ...body, amount })).statusCode).toBe(201);
    },
  );

  test.each(["1000000000000", "1000000000000.00", "999999999999999.99"])(
    "POST /payments rejects the amount %j, which the processor does not support",
    async (amount) => {
      const response = await send("POST", "/payments", { ...body, amount });
      expect(response.json()).toMatchObject({
        status: 422,
        errors: [{ pointer: "/amount", message: expect.stringContaining('"999999999999.99"') }],
      });
      expect(gateway.received).toEqual([]);
    },
  );

  test.each([
    "http://shop.example/",
    "http://127.0.0.1/",
    "https://",
    "https:/shop.example",
    "https:///shop.example",
    "https:shop.example",
    "https://127.1/",
    "https://sh%6fp.example/",
    "https:\\\\shop.example",
    "https://user:pass@shop.example/",
    "https://@shop.example/",
    "https://shop.example/\r\nSet-Cookie: a=b",
    "https://shop.example/a b",
    " https://shop.example/",
    "//shop.example/",
    "/paid",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://shop.example/",
    `https://shop.example/${"a".repeat(2048)}`,
    7,
    null,
  ])("POST /payments rejects the return URL %j", async (success_url) => {
    const response = await send("POST", "/payments", { ...body, success_url });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer: "/success_url" })]);
  });

  test.each([
    ["order_ref", "a".repeat(21)],
    ["order_ref", ""],
    ["order_ref", 12],
    ["description", "a".repeat(513)],
    ["language", "de"],
    ["language", null],
    ["currency", "EUR"],
    ["currency", "dzd"],
    ["status", "PAID"],
    ["id", id],
    ["business_id", id],
    ["customer_email", "a@b.c"],
    ["constructor", {}],
    ["toString", "x"],
  ])("POST /payments rejects %s = %j, and the error has a pointer to the field", async (name, value) => {
    const response = await send("POST", "/payments", { ...body, [name]: value });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer: `/${name}` })]);
  });

  test.each(["https://shop.example", "https://متجر.example/شكرا?طلب=1"])(
    "POST /payments sends the return URL %s unchanged to the payments service",
    async (success_url) => {
      gateway.behaviour.payments.createPayment = async () => aPayment();
      expect((await send("POST", "/payments", { ...body, success_url })).statusCode).toBe(201);
      expect(gateway.received[0]?.request).toMatchObject({ successUrl: success_url });
    },
  );

  test("POST /payments counts UTF-16 code units for the maximum length of order_ref and description", async () => {
    gateway.behaviour.payments.createPayment = async () => aPayment();
    for (const [name, units] of [
      ["order_ref", 20],
      ["description", 512],
    ] as const) {
      const emoji = "😀".repeat(units / 2);
      expect((await send("POST", "/payments", { ...body, [name]: emoji })).statusCode).toBe(201);
      const response = await send("POST", "/payments", { ...body, [name]: `${emoji}a` });
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}` }] });
    }
  });

  test("POST /payments returns 504 with the code processor_outcome_unknown when the payments service reports an unknown outcome", async () => {
    gateway.behaviour.payments.createPayment = async () => {
      throw new DomainError("outcome_unknown", "processor_outcome_unknown", "The outcome is unknown.");
    };
    const response = await send("POST", "/payments", body);
    expect(response.statusCode).toBe(504);
    expect(response.json().code).toBe("processor_outcome_unknown");
  });
});

describe("GET /payments", () => {
  test("GET /payments/{id} returns the payment", async () => {
    gateway.behaviour.payments.getPayment = async () => aPayment({ status: PaymentStatus.PAID, paidAtMs: 1_795_170_000_000n });
    const response = await send("GET", `/payments/${id}`);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ id, status: "PAID", paid_at: "2026-11-20T10:20:00.000Z" });
    expect(gateway.received[0]).toMatchObject({ rpc: "GetPayment", request: { id } });
  });

  test("GET /payments/{id} returns the same 404 for another business's payment, an unknown id and a malformed id", async () => {
    gateway.behaviour.payments.getPayment = async () => {
      throw new DomainError("not_found", "not_found", "There is no payment with this id. Check the id.");
    };
    const headers = { "x-request-id": "same-request" };
    const notFound = await send("GET", `/payments/${uuidv7()}`, undefined, headers);
    expect(notFound.statusCode).toBe(404);
    expect(notFound.json().code).toBe("not_found");
    for (const otherId of ["x", "1", "%00", `${id}0`, "..%2f..", "019a0000000070008000000000000001", "a".repeat(2000)]) {
      const response = await send("GET", `/payments/${otherId}`, undefined, headers);
      expect([response.statusCode, response.body]).toEqual([404, notFound.body]);
    }
  });

  test("GET /payments returns an array with the total and links to other pages", async () => {
    gateway.behaviour.payments.listPayments = async () => ({ payments: [aPayment(), aPayment()], total: 7 });
    const response = await send(
      "GET",
      "/payments?limit=2&offset=2&status=PAID&order_ref=a%26b&created_from=2026-11-20T11:00:00%2B01:00",
    );
    expect(response.statusCode).toBe(200);
    expect(response.json()).toHaveLength(2);
    expect(response.headers["x-total-count"]).toBe("7");
    const urlTemplate =
      "/api/v1/payments?limit=2&offset=%&status=PAID&order_ref=a%26b&created_from=2026-11-20T11%3A00%3A00%2B01%3A00";
    const link = (offset: number, rel: string) => `<${urlTemplate.replace("%", String(offset))}>; rel="${rel}"`;
    expect(String(response.headers["link"]).split(", ").sort()).toEqual(
      [link(0, "first"), link(6, "last"), link(0, "prev"), link(4, "next")].sort(),
    );
    expect(gateway.received[0]?.request).toMatchObject({
      limit: 2,
      offset: 2,
      status: PaymentStatus.PAID,
      orderRef: "a&b",
      createdFromMs: BigInt(Date.parse("2026-11-20T10:00:00Z")),
    });
  });

  test("GET /payments uses limit 50 and offset 0 by default", async () => {
    gateway.behaviour.payments.listPayments = async () => ({ payments: [], total: 0 });
    const response = await send("GET", "/payments");
    expect(response.body).toBe("[]");
    expect(response.headers["x-total-count"]).toBe("0");
    expect(gateway.received[0]?.request).toMatchObject({ limit: 50, offset: 0 });
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=1.5",
    "limit=1e2",
    "limit=",
    "limit=ten",
    "limit=%2B5",
    "limit=%205",
    "limit=05",
    "limit=1&limit=2",
    "offset=-1",
    "offset=2147483648",
    "offset=99999999999999999999",
    "status=paid",
    "status=",
    "status=NONE",
    "order_ref=%00",
    "order_ref=",
    "payment_link_id=7",
    "created_from=2026-11-20",
    "created_from=2026-02-30T00:00:00Z",
    "created_to=2026-11-20T10:00:00",
    "created_to=now",
    "created_to=2026-11-20T24:00:00Z",
    "order_ref=%ff",
    "order_ref=%C3",
    "order_ref=%ed%a0%80",
    "order_ref=100%",
    "status=%ff",
  ])("GET /payments returns 422 with the name of the parameter for the query ?%s", async (query) => {
    const response = await send("GET", `/payments?${query}`);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ parameter: query.split("=")[0] })]);
  });
});

describe("POST /payments/{id}/refund", () => {
  beforeEach(() => {
    gateway.behaviour.payments.refundPayment = async ({ amountMinor }) =>
      aPayment({ status: PaymentStatus.REFUNDED, refundedAmountMinor: amountMinor ?? 500_000n });
  });

  test.each(["application/x-www-form-urlencoded", "text/plain", "application/json", "nonsense", ""])(
    "POST /payments/{id}/refund refunds the full amount for an empty body of the type %j",
    async (type) => {
      const response = await send("POST", `/payments/${id}/refund`, undefined, { "content-type": type, "content-length": "0" });
      expect([response.statusCode, response.json().refunded_amount]).toEqual([200, "5000.00"]);
    },
  );

  test("POST /payments/{id}/refund returns 415 for a body that is not JSON", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await send("POST", `/payments/${id}/refund`, "a=b", form)).statusCode).toBe(415);
  });

  test.each([undefined, "", {}])("POST /payments/{id}/refund refunds the full amount for the body %j", async (payload) => {
    const response = await send("POST", `/payments/${id}/refund`, payload);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: "REFUNDED", refunded_amount: "5000.00" });
    expect(gateway.received[0]?.request).toMatchObject({ id });
    expect(gateway.received[0]?.request).not.toHaveProperty("amountMinor");
  });

  test("POST /payments/{id}/refund refunds a part of the amount", async () => {
    const response = await send("POST", `/payments/${id}/refund`, { amount: "12.5" });
    expect(response.json()).toMatchObject({ refunded_amount: "12.50" });
    expect(gateway.received[0]?.request).toMatchObject({ amountMinor: 1_250n });
  });

  test.each([7, null, "1e2", "-1"])(
    "POST /payments/{id}/refund rejects the amount %j, without a call to the payments service",
    async (amount) => {
      const response = await send("POST", `/payments/${id}/refund`, { amount });
      expect(response.statusCode).toBe(422);
      expect(response.json()).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/amount" }] });
      expect(gateway.received).toEqual([]);
    },
  );

  test("POST /payments/{id}/refund returns the code, detail, pointer and members of a refusal by the payments service", async () => {
    gateway.behaviour.payments.refundPayment = async () => {
      throw new DomainError("invalid", "refund_amount_invalid", "At most 5000.00 was paid.", { pointer: "/amount" });
    };
    const invalid = await send("POST", `/payments/${id}/refund`, { amount: "9000" });
    expect(invalid.statusCode).toBe(422);
    expect(invalid.json()).toMatchObject({
      code: "refund_amount_invalid",
      detail: "At most 5000.00 was paid.",
      errors: [{ pointer: "/amount", code: "refund_amount_invalid" }],
    });

    gateway.behaviour.payments.refundPayment = async () => {
      throw new DomainError("conflict", "payment_not_refundable", "The payment is PENDING.", {
        members: { payment_status: "PENDING" },
      });
    };
    const conflict = await send("POST", `/payments/${id}/refund`);
    expect(conflict.statusCode).toBe(409);
    expect(conflict.json()).toMatchObject({ code: "payment_not_refundable", payment_status: "PENDING" });
  });

  test.each([
    ["refused_upstream", "refund_refused", 422, undefined],
    ["upstream_error", "processor_error", 502, undefined],
    ["unavailable", "service_unavailable", 503, "1"],
    ["outcome_unknown", "refund_outcome_unknown", 504, "5"],
    ["forbidden", "address_not_allowed", 403, undefined],
    ["conflict", "payment_not_refundable", 409, undefined],
    ["conflict", "refund_in_progress", 409, "5"],
    ["conflict", "idempotency_in_progress", 409, "5"],
    ["conflict", "kyc_in_progress", 409, "5"],
  ] as const)(
    "POST /payments/{id}/refund maps a refusal of the kind %s with the code %s to status %i and Retry-After %s",
    async (kind, code, status, retryAfter) => {
      gateway.behaviour.payments.refundPayment = async () => {
        throw new DomainError(kind, code, "The request was refused.");
      };
      const response = await send("POST", `/payments/${id}/refund`);
      expect([response.statusCode, response.json().code, response.headers["retry-after"]]).toEqual([status, code, retryAfter]);
    },
  );

  test("POST /payments/{id}/refund returns refund_outcome_unknown with Retry-After when the deadline of the RPC passes", async () => {
    gateway.behaviour.payments.refundPayment = async () => {
      throw new ConnectError("deadline exceeded", Code.DeadlineExceeded);
    };
    const response = await send("POST", `/payments/${id}/refund`);
    expect([response.json().code, response.headers["retry-after"]]).toEqual(["refund_outcome_unknown", "5"]);
  });
});

describe("POST /payments/{id}/refresh", () => {
  test("POST /payments/{id}/refresh returns the refreshed payment with its origin", async () => {
    gateway.behaviour.payments.refreshPayment = async () =>
      aPayment({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 700n, origin: "PROCESSOR" });
    const response = await send("POST", `/payments/${id}/refresh`);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: "REFUNDED", refunded_amount: "7.00", origin: "PROCESSOR" });
    expect(gateway.received[0]).toMatchObject({ rpc: "RefreshPayment", request: { id } });
  });

  test("POST /payments/{id}/refresh rejects a body with fields, and rejects a malformed id", async () => {
    expect((await send("POST", `/payments/${id}/refresh`, { force: true })).json()).toMatchObject({
      errors: [{ pointer: "/force" }],
    });
    expect((await send("POST", "/payments/nonsense/refresh")).statusCode).toBe(404);
    expect(gateway.received).toEqual([]);
  });
});
