import type { OrderState, Outcome } from "./card-processor.ts";

/** A JSON object with HTTP 200 is an answer; everything else leaves the outcome unknown. */
export function readAnswer(statusCode: number, text: string): Outcome<Record<string, unknown>> {
  if (statusCode !== 200) return { kind: "unknown", reason: `HTTP ${statusCode}` };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { kind: "accepted", value };
  } catch {}
  return { kind: "unknown", reason: "the answer is not a JSON object" };
}

/**
 * The state of an order out of a confirm or status answer of either generation. Names differ in
 * capitals between the calls, and numbers come as numbers or text: all are read alike. The card
 * holder's name and address are not read. A code other than 0 without an order status means that
 * the call itself was refused.
 */
export function readOrderState(answer: Outcome<Record<string, unknown>>): Outcome<OrderState> {
  if (answer.kind !== "accepted") return answer;
  const body = answer.value;
  const errorCode = field(body, "errorCode");
  const orderStatus = integer(field(body, "orderStatus"));
  if (orderStatus === undefined) {
    // A status that is there and cannot be read must not pass for an order that nobody has paid.
    if (isPresent(member(body, "orderStatus"))) return { kind: "unknown", reason: "the order status is not a number" };
    if (errorCode === undefined) return { kind: "unknown", reason: "the answer has neither an error code nor an order status" };
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

/** Longer than anything the protocol knows: a form address is the longest. */
const textLengthMax = 2_048;

/** A scalar by name, whatever its capitals; undefined when absent, empty or not to be stored. */
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
  const wanted = name.toLowerCase();
  const key = Object.keys(body).find((candidate) => candidate.toLowerCase() === wanted);
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

/** Only a masked number passes: at most ten digits, with the middle hidden. */
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
