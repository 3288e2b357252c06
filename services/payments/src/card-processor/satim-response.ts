import { orderStatuses } from "../payment/payment.ts";
import type { OrderState, Outcome } from "./card-processor.ts";

/**
 * Returns the JSON object of a response with status 200. Any other response is an unknown outcome.
 */
export function parseResponse(statusCode: number, text: string): Outcome<Record<string, unknown>> {
  if (statusCode !== 200) return { kind: "unknown", reason: `HTTP ${statusCode}` };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { kind: "accepted", value };
  } catch {}
  return { kind: "unknown", reason: "the response is not a JSON object" };
}

/**
 * Returns the state of an order from a confirm response or a status response. The responses differ
 * in the upper and lower case of field names. They contain numbers as JSON numbers or as strings.
 * The name and address of the card holder are not read. An error code other than 0 without an order
 * status means that the processor refused the call itself.
 */
export function readOrderState(response: Outcome<Record<string, unknown>>): Outcome<OrderState> {
  if (response.kind !== "accepted") return response;
  const body = response.value;
  const errorCode = readField(body, "errorCode");
  const orderStatus = parseInteger(readField(body, "orderStatus"));
  if (orderStatus === undefined) {
    // An unreadable order status must not count as an unpaid order.
    if (isPresent(findMember(body, "orderStatus"))) return { kind: "unknown", reason: "the order status is not a number" };
    if (errorCode === undefined) return { kind: "unknown", reason: "the response has neither an error code nor an order status" };
    if (errorCode !== "0") return { kind: "refused", errorCode, message: readField(body, "errorMessage") ?? "" };
  }
  const params = readObject(body, "params");
  const card = readObject(body, "cardAuthInfo");
  const amounts = readObject(body, "paymentAmountInfo");
  return {
    kind: "accepted",
    value: {
      errorCode,
      orderStatus,
      orderId: readAttribute(body, "mdOrder"),
      orderNumber: readField(body, "orderNumber"),
      amountMinor: parseAmount(readField(body, "amount")),
      // A response with JSON numbers contains 12 in place of "012".
      currency: readField(body, "currency")?.padStart(3, "0"),
      refundedMinor: parseAmount(readField(amounts, "refundedAmount")),
      actionCode: readField(body, "actionCode"),
      actionCodeDescription: readField(body, "actionCodeDescription"),
      respCode: readField(params, "respCode"),
      respCodeDesc: readField(params, "respCode_desc"),
      approvalCode: readField(body, "approvalCode") ?? readField(card, "approvalCode"),
      maskedPan: keepMaskedPan(readField(body, "pan") ?? readField(card, "pan")),
    },
  };
}

/** Error code in the response to a repeated confirm. A declined order can also have this code. */
const alreadyConfirmedCode = "2";

/**
 * Returns the state of an order from a confirm response. If the order was confirmed before, the
 * processor returns error code 2 and the other fields of the first response. Changes this code to
 * 0, so that a payment can become PAID although the first response was lost. Error code 2 without
 * order status 2 stays unchanged, because the order may be declined.
 */
export function readConfirmedOrder(response: Outcome<Record<string, unknown>>): Outcome<OrderState> {
  const outcome = readOrderState(response);
  if (outcome.kind !== "accepted") return outcome;
  const { errorCode, orderStatus } = outcome.value;
  if (errorCode !== alreadyConfirmedCode || orderStatus !== orderStatuses.deposited) return outcome;
  return { kind: "accepted", value: { ...outcome.value, errorCode: "0" } };
}

/** Maximum length of a text. A form URL, the longest text of the protocol, is shorter. */
const textLengthMax = 2_048;

/**
 * Returns a number or a text of the body as text. Ignores the case of the field's name. Returns
 * undefined for any other value, for an empty or too long text, and for a text with a NUL
 * character.
 */
export function readField(body: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = findMember(body, name);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && isPresent(value) && value.length <= textLengthMax && !value.includes("\0")
    ? value
    : undefined;
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

function findMember(body: Record<string, unknown> | undefined, name: string): unknown {
  if (!body) return undefined;
  if (Object.hasOwn(body, name)) return body[name];
  const lowerName = name.toLowerCase();
  const key = Object.keys(body).find((candidate) => candidate.toLowerCase() === lowerName);
  return key === undefined ? undefined : body[key];
}

function readObject(body: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const value = findMember(body, name);
  return isObject(value) ? value : undefined;
}

function readAttribute(body: Record<string, unknown>, name: string): string | undefined {
  const attributes = findMember(body, "attributes");
  if (!Array.isArray(attributes)) return undefined;
  return readField(
    attributes.filter(isObject).find((entry) => readField(entry, "name")?.toLowerCase() === name.toLowerCase()),
    "value",
  );
}

/** Returns the card number if it is masked: at most ten digits, with the middle hidden. */
function keepMaskedPan(pan: string | undefined): string | undefined {
  if (pan === undefined || !/^\d{4,6}[*Xx]{2,12}\d{4}$/.test(pan)) return undefined;
  return pan;
}

function parseInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function parseAmount(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
