import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OrderState, Outcome } from "./card-processor.ts";
import { parseResponse, readConfirmedOrder, readField, readOrderState } from "./satim-response.ts";

const readOutcome = (body: unknown, statusCode = 200): Outcome<OrderState> =>
  readOrderState(parseResponse(statusCode, typeof body === "string" ? body : JSON.stringify(body)));

function stateOf(body: unknown): OrderState {
  const outcome = readOutcome(body);
  if (outcome.kind !== "accepted") throw new Error(`expected an order state, got ${JSON.stringify(outcome)}`);
  return outcome.value;
}

const confirmResponse = {
  ErrorCode: "0",
  ErrorMessage: "Success",
  OrderStatus: 2,
  OrderNumber: "1234567890",
  Amount: 500000,
  depositAmount: 500000,
  currency: "012",
  expiration: "202701",
  cardholderName: "AMINA BENALI",
  Pan: "628058**7215",
  approvalCode: "012345",
  authCode: 2,
  actionCode: 0,
  actionCodeDescription: "Votre paiement a été accepté",
  Ip: "203.0.113.7",
  params: { respCode: "00", respCode_desc: "Accepté", udf1: "basket-7" },
  SvfeResponse: "00",
};

const extendedResponse = {
  errorCode: 0,
  errorMessage: "Success",
  orderNumber: "1234567890",
  orderStatus: 4,
  actionCode: 0,
  actionCodeDescription: "",
  amount: 500000,
  currency: "012",
  ip: "203.0.113.7",
  attributes: [
    { name: "other", value: "x" },
    { name: "mdOrder", value: "abcdefghij0123456789" },
  ],
  cardAuthInfo: { pan: "6280****7215", expiration: "202701", cardholderName: "AMINA BENALI", approvalCode: "012345" },
  paymentAmountInfo: { paymentState: "REFUNDED", approvedAmount: 500000, depositedAmount: 500000, refundedAmount: 120000 },
};

describe("readOrderState", () => {
  test("readOrderState returns the order's fields from a confirm response with capitalized field names", () => {
    expect(stateOf(confirmResponse)).toEqual({
      errorCode: "0",
      orderStatus: 2,
      orderId: undefined,
      orderNumber: "1234567890",
      amountMinor: 500_000n,
      currency: "012",
      refundedMinor: undefined,
      actionCode: "0",
      actionCodeDescription: "Votre paiement a été accepté",
      respCode: "00",
      respCodeDesc: "Accepté",
      approvalCode: "012345",
      maskedPan: "628058**7215",
    });
  });

  test("readOrderState returns the order's fields from an extended status response with camel-case field names", () => {
    expect(stateOf(extendedResponse)).toEqual({
      errorCode: "0",
      orderStatus: 4,
      orderId: "abcdefghij0123456789",
      orderNumber: "1234567890",
      amountMinor: 500_000n,
      currency: "012",
      refundedMinor: 120_000n,
      actionCode: "0",
      actionCodeDescription: undefined,
      respCode: undefined,
      respCodeDesc: undefined,
      approvalCode: "012345",
      maskedPan: "6280****7215",
    });
  });

  test.each([
    ["confirm", confirmResponse],
    ["extended status", extendedResponse],
  ])(
    "readOrderState accepts numbers as strings, and field names in upper or lower case, in a response to the %s call",
    (_name, response) => {
      const textResponse = JSON.parse(JSON.stringify(response), (_key, value) =>
        typeof value === "number" ? String(value) : value,
      );
      const renameFields = (rename: (name: string) => string) =>
        Object.fromEntries(Object.entries(response).map(([name, value]) => [rename(name), value]));
      for (const variant of [
        textResponse,
        renameFields((name) => name.toUpperCase()),
        renameFields((name) => name.toLowerCase()),
      ]) {
        expect(stateOf(variant)).toEqual(stateOf(response));
      }
    },
  );

  test("readOrderState pads a numeric currency to three digits", () =>
    expect(stateOf({ ...confirmResponse, currency: 12 }).currency).toBe("012"));

  test("readOrderState accepts the response for a declined order and returns the order's state", () => {
    expect(stateOf({ ErrorCode: "3", OrderStatus: 6, actionCode: 116, params: { respCode: "51" } })).toMatchObject({
      errorCode: "3",
      orderStatus: 6,
      actionCode: "116",
      respCode: "51",
    });
  });

  test.each([
    { errorCode: 5, errorMessage: "Access denied" },
    { errorcode: "5", errormessage: "Access denied" },
    { ErrorCode: "5", ErrorMessage: "Access denied" },
  ])("readOrderState returns the outcome `refused` for %j", (response) => {
    expect(readOutcome(response)).toEqual({ kind: "refused", errorCode: "5", message: "Access denied" });
  });

  test("readOrderState accepts a response without an order status if the error code is 0", () => {
    expect(stateOf({ errorCode: 0, orderNumber: "1234567890" })).toMatchObject({ errorCode: "0", orderStatus: undefined });
  });
});

describe("readConfirmedOrder", () => {
  const repeatedResponse = { ...confirmResponse, ErrorCode: "2", ErrorMessage: "Order is already confirmed" };
  const confirmedOutcome = (body: unknown) => readConfirmedOrder(parseResponse(200, JSON.stringify(body)));

  test.each([
    ["a first confirm", confirmResponse],
    ["a repeated confirm", repeatedResponse],
    ["a repeated confirm with numbers in place of strings", { ...repeatedResponse, ErrorCode: 2 }],
    ["a repeated confirm with strings in place of numbers", { ...repeatedResponse, OrderStatus: "2" }],
  ])("readConfirmedOrder returns the paid order with error code 0 for %s", (_name, body) => {
    expect(confirmedOutcome(body)).toEqual({ kind: "accepted", value: stateOf(confirmResponse) });
  });

  test("readConfirmedOrder keeps the response code of a repeated confirm", () => {
    const outcome = confirmedOutcome({ ...repeatedResponse, params: { respCode: "51" } });
    expect(outcome).toMatchObject({ kind: "accepted", value: { errorCode: "0", orderStatus: 2, respCode: "51" } });
  });

  test("readConfirmedOrder returns the outcome `refused` for error code 2 without an order status", () => {
    const message = "Payment is declined";
    expect(confirmedOutcome({ ErrorCode: "2", ErrorMessage: message })).toEqual({ kind: "refused", errorCode: "2", message });
  });

  test.each([-1, 0, 1, 3, 4, 5, 6, 7])("readConfirmedOrder keeps error code 2 at order status %i", (OrderStatus) => {
    const outcome = confirmedOutcome({ ...repeatedResponse, OrderStatus });
    expect(outcome).toMatchObject({ kind: "accepted", value: { errorCode: "2", orderStatus: OrderStatus } });
  });

  test.each(["1", "3", "5", "6", "7"])("readConfirmedOrder keeps error code %s at order status 2", (ErrorCode) => {
    expect(confirmedOutcome({ ...repeatedResponse, ErrorCode })).toMatchObject({ value: { errorCode: ErrorCode } });
  });

  test("readOrderState keeps error code 2 in a response to a status call", () => {
    expect(stateOf(repeatedResponse)).toMatchObject({ errorCode: "2", orderStatus: 2 });
  });
});

describe("readOrderState with unusable responses", () => {
  test.each([
    ["an empty body", ""],
    ["a truncated response", JSON.stringify(confirmResponse).slice(0, 120)],
    ["an HTML page", "<!doctype html><title>Maintenance</title>"],
    ["a list", JSON.stringify([confirmResponse])],
    ["null", "null"],
    ["a string", '"ok"'],
    ["a number", "0"],
    ["an empty object", "{}"],
    ["an object without order fields", '{"status":"UP"}'],
    ["deeply nested lists", "[".repeat(100_000)],
    ["a body of five million characters", "x".repeat(5_000_000)],
    ["an order status that is not a number", JSON.stringify({ ...confirmResponse, OrderStatus: "paid" })],
    ["an order status that is an object", JSON.stringify({ ...confirmResponse, OrderStatus: { value: 2 } })],
    ["a fractional order status", JSON.stringify({ ...confirmResponse, OrderStatus: 2.5 })],
  ])("readOrderState returns the outcome `unknown` for %s", (_name, text) =>
    expect(readOutcome(text)).toMatchObject({ kind: "unknown" }),
  );

  test.each([201, 204, 302, 400, 404, 429, 500, 502, 503, 504])(
    "readOrderState returns the outcome `unknown` for a valid body with status %i",
    (statusCode) => {
      expect(readOutcome(confirmResponse, statusCode)).toEqual({ kind: "unknown", reason: `HTTP ${statusCode}` });
    },
  );
});

describe("readOrderState with unusable values", () => {
  test.each([
    ["confirm", confirmResponse],
    ["extended status", extendedResponse],
  ])("readOrderState omits the card holder's name and IP address in a response to the %s call", (_name, response) => {
    const text = JSON.stringify(stateOf(response), (_key, value) => (typeof value === "bigint" ? String(value) : value));
    expect(text).not.toMatch(/AMINA|203\.0\.113/);
  });

  test.each(["6280581110007215", "62805811**007215", "628058**", "**", "628058**72151", "6280 58** 7215", ""])(
    "readOrderState omits the text %j, which is not a masked card number",
    (pan) => {
      expect(stateOf({ ...confirmResponse, Pan: pan }).maskedPan).toBeUndefined();
      expect(stateOf({ ...extendedResponse, cardAuthInfo: { pan } }).maskedPan).toBeUndefined();
    },
  );

  test.each(["628058**7215", "6280****7215", "628058XXXXXX7215", "628058xx7215"])(
    "readOrderState returns the masked card number %s unchanged",
    (pan) => {
      expect(stateOf({ ...confirmResponse, Pan: pan }).maskedPan).toBe(pan);
    },
  );

  test.each(["with a NUL\0", "x".repeat(2_049)])(
    "readOrderState omits a text that has a NUL character or more than 2048 characters",
    (text) => {
      const state = stateOf({ ...confirmResponse, actionCodeDescription: text, params: { respCode: "00", respCode_desc: text } });
      expect(state).toMatchObject({ actionCodeDescription: undefined, respCodeDesc: undefined });
    },
  );

  test.each([-1, 1.5, "5000.00", "-1", "1e3", true, null, {}, 1e300])("readOrderState omits the invalid amount %j", (amount) => {
    expect(stateOf({ ...confirmResponse, Amount: amount }).amountMinor).toBeUndefined();
  });
});

describe("readOrderState with arbitrary bodies", () => {
  const fieldNames = [
    "ErrorCode",
    "errorCode",
    "OrderStatus",
    "orderStatus",
    "Amount",
    "Pan",
    "params",
    "__proto__",
    "attributes",
  ];
  const arbitraryValue = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(0, "0", 2, "2", "00", "012", { respCode: "00" }, [null, {}]),
  );
  const anyBody = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.array(fc.tuple(fc.constantFrom(...fieldNames), arbitraryValue)).map((entries) => {
      const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
      return `{${members.join()}}`;
    }),
    fc
      .record({ length: fc.nat(400), response: fc.constantFrom(confirmResponse, extendedResponse) })
      .map(({ length, response }) => JSON.stringify(response).slice(0, length)),
  );

  test.each([
    ["readOrderState", readOrderState, ["0"]],
    ["readConfirmedOrder", readConfirmedOrder, ["0", "2"]],
  ] as const)(
    "%s never throws, and returns a paid state only if the error code, the order status and the response code all show a payment",
    (_name, read, paidErrorCodes) => {
      fc.assert(
        fc.property(anyBody, fc.constantFrom(200, 200, 500), (text, statusCode) => {
          const outcome = read(parseResponse(statusCode, text));
          expect(["accepted", "refused", "unknown"]).toContain(outcome.kind);
          if (outcome.kind !== "accepted") return;
          const { errorCode, orderStatus, respCode } = outcome.value;
          if (errorCode !== "0" || orderStatus !== 2 || respCode !== "00") return;
          const body = JSON.parse(text) as Record<string, unknown>;
          expect(statusCode).toBe(200);
          expect(paidErrorCodes).toContain(readField(body, "errorCode"));
          expect(readField(body, "orderStatus")).toBe("2");
          expect(JSON.stringify(body["params"])).toContain('"respCode":"00"');
        }),
        { numRuns: 3_000 },
      );
    },
  );

  test("readOrderState does not return a paid state if the error code, the order status or the response code is missing", () => {
    const omitField = (name: string) => Object.fromEntries(Object.entries(confirmResponse).filter(([key]) => key !== name));
    for (const name of ["ErrorCode", "OrderStatus", "params"]) {
      const { errorCode, orderStatus, respCode } = stateOf(omitField(name));
      expect([errorCode, orderStatus, respCode]).toContain(undefined);
    }
  });
});
