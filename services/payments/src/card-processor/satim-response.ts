import type { OrderState, Outcome } from "./card-processor.ts";

/** Returns the JSON object of a response with HTTP 200. The outcome of any other is unknown. */
export function parseResponse(statusCode: number, text: string): Outcome<Record<string, unknown>> {
  if (statusCode !== 200) return { kind: "unknown", reason: `HTTP ${statusCode}` };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { kind: "accepted", value };
  } catch {}
  return { kind: "unknown", reason: "the response is not a JSON object" };
}

/**
 * Returns the state of an order from a confirm or status response of either protocol generation.
 * The calls differ in the capitals of names, and numbers arrive as numbers or text. The name and
 * address of the card holder are not read. An error code other than 0 without an order status means
 * that the processor refused the call itself.
 */
export function readOrderState(response: Outcome<Record<string, unknown>>): Outcome<OrderState> {
  if (response.kind !== "accepted") return response;
  const body = response.value;
  const errorCode = field(body, "errorCode");
  const orderStatus = integer(field(body, "orderStatus"));
  if (orderStatus === undefined) {
    // An unreadable order status must not count as an unpaid order.
    if (isPresent(member(body, "orderStatus"))) return { kind: "unknown", reason: "the order status is not a number" };
    if (errorCode === undefined) return { kind: "unknown", reason: "the response has neither an error code nor an order status" };
    if (errorCode !== "0") return { kind: "refused", errorCode, message: field(body, "errorMessage") ?? "" };
  }
  const params = object(body, "params");
  const card = object(body, "cardAuthInfo");
  const amounts = object(body, "paymentAmountInfo");
  return {
    kind: "accepted",
    value: {
      errorCode,
      orderStatus,
      orderId: attribute(body, "mdOrder"),
      orderNumber: field(body, "orderNumber"),
      amountMinor: amount(field(body, "amount")),
      // As a number, "012" arrives as 12.
      currency: field(body, "currency")?.padStart(3, "0"),
      refundedMinor: amount(field(amounts, "refundedAmount")),
      actionCode: field(body, "actionCode"),
      actionCodeDescription: field(body, "actionCodeDescription"),
      respCode: field(params, "respCode"),
      respCodeDesc: field(params, "respCode_desc"),
      approvalCode: field(body, "approvalCode") ?? field(card, "approvalCode"),
      maskedPan: masked(field(body, "pan") ?? field(card, "pan")),
    },
  };
}

/** More than the longest text of the protocol, a form URL. */
const textLengthMax = 2_048;

/** Returns a scalar by name, ignoring case; undefined if it is absent, empty or not storable. */
export function field(body: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = member(body, name);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && isPresent(value) && value.length <= textLengthMax && !value.includes("\0")
    ? value
    : undefined;
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

function member(body: Record<string, unknown> | undefined, name: string): unknown {
  if (!body) return undefined;
  if (Object.hasOwn(body, name)) return body[name];
  const lowerName = name.toLowerCase();
  const key = Object.keys(body).find((candidate) => candidate.toLowerCase() === lowerName);
  return key === undefined ? undefined : body[key];
}

function object(body: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const value = member(body, name);
  return isObject(value) ? value : undefined;
}

function attribute(body: Record<string, unknown>, name: string): string | undefined {
  const list = member(body, "attributes");
  if (!Array.isArray(list)) return undefined;
  return field(
    list.filter(isObject).find((entry) => field(entry, "name")?.toLowerCase() === name.toLowerCase()),
    "value",
  );
}

/** Returns only a masked card number: at most ten digits, with the middle hidden. */
function masked(pan: string | undefined): string | undefined {
  if (pan === undefined || !/^\d{4,6}[*Xx]{2,12}\d{4}$/.test(pan)) return undefined;
  return pan;
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function amount(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
