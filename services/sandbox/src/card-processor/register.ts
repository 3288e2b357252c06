import { randomInt } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import { isObject, isWebAddress } from "../checks.ts";
import { type Order, passwordAttemptsMax } from "./order.ts";
import { type Parameters, type Processor, payPageUrl } from "./processor.ts";
import { refusal } from "./refusal.ts";

const amountMinorMin = 5_000;
const descriptionLengthMax = 512;
const udfLengthMax = 20;
const merchantParamNames = ["force_terminal_id", "udf1", "udf2", "udf3", "udf4", "udf5"];

export function register(processor: Processor, parameters: Parameters): object {
  const { orders, clock } = processor;
  const { orderNumber, amount, currency, returnUrl, failUrl = returnUrl, description = "", jsonParams } = parameters;
  if (!orderNumber || !amount || !currency || !returnUrl || !failUrl || !jsonParams) {
    const required = ["orderNumber", "amount", "currency", "returnUrl", "jsonParams"];
    const missing = required.filter((name) => !parameters[name]);
    return refusal("4", `Required parameter is missing: ${missing.join(", ")}`);
  }
  if (!/^\d{10}$/.test(orderNumber)) return refusal("5", "orderNumber must be exactly 10 digits");
  if (currency !== "012") return refusal("3");
  // Accepts at most twelve digits of dinars and two digits of centimes. Amana's API has the same
  // maximum.
  if (!/^\d{1,14}$/.test(amount) || Number(amount) < amountMinorMin) {
    return refusal("5", `amount must be a whole number of centimes, at least ${amountMinorMin}`);
  }
  if (!isWebAddress(returnUrl) || !isWebAddress(failUrl))
    return refusal("5", "returnUrl and failUrl must be http or https addresses");
  if (description.length > descriptionLengthMax) return refusal("5", `description is longer than ${descriptionLengthMax}`);
  const language = parseLanguage(parameters["language"] ?? "fr");
  if (!language) return refusal("5", "language must be AR, FR or EN");
  const merchant = parseMerchantParams(jsonParams);
  if ("refused" in merchant) return merchant.refused;
  if (orders.byNumber(orderNumber)) return refusal("1");

  const order: Order = {
    orderId: randomOrderId(),
    orderNumber,
    amountMinor: Number(amount),
    currency,
    returnUrl,
    failUrl,
    description,
    language,
    merchantParams: merchant.params,
    registeredAtMs: clock.nowMs(),
    status: 0,
    passwordAttemptsLeft: passwordAttemptsMax,
    depositedMinor: 0,
    refundedMinor: 0,
  };
  orders.save(order);
  return { errorCode: 0, orderId: order.orderId, formUrl: payPageUrl(processor, order.orderId) };
}

type MerchantParams = { params: Record<string, string> } | { refused: object };

function parseMerchantParams(jsonParams: string): MerchantParams {
  let parsed: unknown;
  try {
    parsed = JSON.parse(jsonParams);
  } catch {
    return { refused: refusal("5", "jsonParams is not JSON") };
  }
  if (!isObject(parsed)) return { refused: refusal("5", "jsonParams is not an object") };
  const entries = Object.entries(parsed).filter(
    ([name, value]) => merchantParamNames.includes(name) && value !== "" && value !== null,
  );
  const params = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  if (!params["force_terminal_id"]) return { refused: refusal("4", "Required parameter is missing: force_terminal_id") };
  const tooLong = Object.entries(params).find(([name, value]) => name.startsWith("udf") && value.length > udfLengthMax);
  if (tooLong) return { refused: refusal("5", `${tooLong[0]} is longer than ${udfLengthMax}`) };
  return { params };
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const randomOrderId = () => Array.from({ length: 20 }, () => alphabet[randomInt(alphabet.length)]).join("");
