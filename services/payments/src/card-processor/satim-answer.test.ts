import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OrderState, Outcome } from "./card-processor.ts";
import { field, readAnswer, readOrderState } from "./satim-answer.ts";

const read = (body: unknown, statusCode = 200): Outcome<OrderState> =>
  readOrderState(readAnswer(statusCode, typeof body === "string" ? body : JSON.stringify(body)));

function stateOf(body: unknown): OrderState {
  const outcome = read(body);
  if (outcome.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

const confirmAnswer = {
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

const extendedAnswer = {
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

describe("both generations are read alike", () => {
  test("the confirm answer, capitalised", () => {
    expect(stateOf(confirmAnswer)).toEqual({
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

  test("the extended status, camel case", () => {
    expect(stateOf(extendedAnswer)).toEqual({
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
    ["confirm", confirmAnswer],
    ["extended status", extendedAnswer],
  ])("numbers as text and any capitals mean the same: %s", (_name, answer) => {
    const asText = JSON.parse(JSON.stringify(answer), (_key, value) => (typeof value === "number" ? String(value) : value));
    const capitals = (make: (name: string) => string) =>
      Object.fromEntries(Object.entries(answer).map(([name, value]) => [make(name), value]));
    for (const variant of [asText, capitals((name) => name.toUpperCase()), capitals((name) => name.toLowerCase())]) {
      expect(stateOf(variant)).toEqual(stateOf(answer));
    }
  });

  test("the currency as a number is the currency", () =>
    expect(stateOf({ ...confirmAnswer, currency: 12 }).currency).toBe("012"));

  test("a declined order is a state, not a refused call", () => {
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
  ])("a refused call: %j", (answer) => {
    expect(read(answer)).toEqual({ kind: "refused", errorCode: "5", message: "Access denied" });
  });

  test("an order that nobody has begun to pay may have no status", () => {
    expect(stateOf({ errorCode: 0, orderNumber: "1234567890" })).toMatchObject({ errorCode: "0", orderStatus: undefined });
  });
});

describe("what is not an answer is unknown", () => {
  test.each([
    ["nothing", ""],
    ["a cut answer", JSON.stringify(confirmAnswer).slice(0, 120)],
    ["an HTML page", "<!doctype html><title>Maintenance</title>"],
    ["a list", JSON.stringify([confirmAnswer])],
    ["null", "null"],
    ["a text", '"ok"'],
    ["a number", "0"],
    ["an empty object", "{}"],
    ["another object", '{"status":"UP"}'],
    ["deep nesting", "[".repeat(100_000)],
    ["a huge text", "x".repeat(5_000_000)],
    ["an order status that is not a number", JSON.stringify({ ...confirmAnswer, OrderStatus: "paid" })],
    ["an order status that is an object", JSON.stringify({ ...confirmAnswer, OrderStatus: { value: 2 } })],
    ["a fractional order status", JSON.stringify({ ...confirmAnswer, OrderStatus: 2.5 })],
  ])("%s", (_name, text) => expect(read(text)).toMatchObject({ kind: "unknown" }));

  test.each([201, 204, 302, 400, 404, 429, 500, 502, 503, 504])("HTTP %i, whatever it says", (statusCode) => {
    expect(read(confirmAnswer, statusCode)).toEqual({ kind: "unknown", reason: `HTTP ${statusCode}` });
  });
});

describe("what must not come through", () => {
  test.each([
    ["confirm", confirmAnswer],
    ["extended status", extendedAnswer],
  ])("the card holder's name and address: %s", (_name, answer) => {
    const text = JSON.stringify(stateOf(answer), (_key, value) => (typeof value === "bigint" ? String(value) : value));
    expect(text).not.toMatch(/AMINA|203\.0\.113/);
  });

  test.each(["6280581110007215", "62805811**007215", "628058**", "**", "628058**72151", "6280 58** 7215", ""])(
    "a card number that is not masked: %j",
    (pan) => {
      expect(stateOf({ ...confirmAnswer, Pan: pan }).maskedPan).toBeUndefined();
      expect(stateOf({ ...extendedAnswer, cardAuthInfo: { pan } }).maskedPan).toBeUndefined();
    },
  );

  test.each(["628058**7215", "6280****7215", "628058XXXXXX7215", "628058xx7215"])("a masked one passes: %s", (pan) => {
    expect(stateOf({ ...confirmAnswer, Pan: pan }).maskedPan).toBe(pan);
  });

  test.each(["with a NUL\0", "x".repeat(2_049)])("text that cannot be stored", (text) => {
    const state = stateOf({ ...confirmAnswer, actionCodeDescription: text, params: { respCode: "00", respCode_desc: text } });
    expect(state).toMatchObject({ actionCodeDescription: undefined, respCodeDesc: undefined });
  });

  test.each([-1, 1.5, "5000.00", "-1", "1e3", true, null, {}, 1e300])("an amount that is none: %j", (amount) => {
    expect(stateOf({ ...confirmAnswer, Amount: amount }).amountMinor).toBeUndefined();
  });
});

describe("whatever comes", () => {
  const names = ["ErrorCode", "errorCode", "OrderStatus", "orderStatus", "Amount", "Pan", "params", "__proto__", "attributes"];
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(0, "0", 2, "2", "00", "012", { respCode: "00" }, [null, {}]),
  );
  const answers = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.array(fc.tuple(fc.constantFrom(...names), odd)).map((entries) => {
      const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
      return `{${members.join()}}`;
    }),
    fc
      .record({ cut: fc.nat(400), answer: fc.constantFrom(confirmAnswer, extendedAnswer) })
      .map(({ cut, answer }) => JSON.stringify(answer).slice(0, cut)),
  );

  test("nothing is thrown, and paid is never read into it", () => {
    fc.assert(
      fc.property(answers, fc.constantFrom(200, 200, 500), (text, statusCode) => {
        const outcome = read(text, statusCode);
        expect(["accepted", "refused", "unknown"]).toContain(outcome.kind);
        if (outcome.kind !== "accepted") return;
        const { errorCode, orderStatus, respCode } = outcome.value;
        if (errorCode !== "0" || orderStatus !== 2 || respCode !== "00") return;
        // All three are there, each under its own name.
        const body = JSON.parse(text) as Record<string, unknown>;
        expect(statusCode).toBe(200);
        expect(["0"]).toContain(field(body, "errorCode"));
        expect(field(body, "orderStatus")).toBe("2");
        expect(JSON.stringify(body["params"])).toContain('"respCode":"00"');
      }),
      { numRuns: 3_000 },
    );
  });

  test("taking one of the three away takes paid away", () => {
    const without = (name: string) => Object.fromEntries(Object.entries(confirmAnswer).filter(([key]) => key !== name));
    for (const name of ["ErrorCode", "OrderStatus", "params"]) {
      const { errorCode, orderStatus, respCode } = stateOf(without(name));
      expect([errorCode, orderStatus, respCode]).toContain(undefined);
    }
  });
});
