import { createLogger } from "@amana/runtime";
import { createSandbox } from "../src/app.ts";
import { type Config, readConfig } from "../src/config.ts";

export const credentials = { userName: "merchant", password: "s3cret-credential" };

export interface RegisteredOrder {
  readonly orderId: string;
  readonly formUrl: string;
  readonly orderNumber: string;
}

// Responses are untyped JSON, because callers may be written in any language.
// biome-ignore lint/suspicious/noExplicitAny: the tests check the shapes.
export type Json = any;

/** Starts a sandbox on a free port, in memory by default. */
export const aSandbox = (config: Partial<Config> = {}) =>
  createSandbox(
    {
      ...readConfig({ SANDBOX_PORT: "0", SATIM_USERNAME: credentials.userName, SATIM_PASSWORD: credentials.password }),
      kycCallbackRetryMs: [10, 20, 30],
      ...config,
    },
    createLogger("sandbox", "silent"),
  );

let lastOrderNumber = 1_000_000_000;

export const aNewOrderNumber = () => String(++lastOrderNumber);

/** Returns valid parameters of a register call. */
export const anOrder = (changes: Record<string, string | undefined> = {}) => ({
  orderNumber: aNewOrderNumber(),
  amount: "500000",
  currency: "012",
  returnUrl: "http://shop.test/thanks?basket=7",
  failUrl: "http://shop.test/sorry",
  description: "Two tickets",
  language: "FR",
  jsonParams: JSON.stringify({ force_terminal_id: "E010900001", udf1: "basket-7" }),
  ...changes,
});

const form = (parameters: Record<string, string | undefined>) =>
  new URLSearchParams(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined));

export interface CallOptions {
  readonly method?: "GET" | "POST";
  readonly signal?: AbortSignal;
}

export function send(url: string, path: string, parameters: Record<string, string | undefined>, options: CallOptions = {}) {
  const { method = "POST", ...rest } = options;
  const fields = form({ ...credentials, ...parameters });
  const address = `${url}/payment/rest/${path}`;
  return method === "GET" ? fetch(`${address}?${fields}`, rest) : fetch(address, { method, body: fields, ...rest });
}

export async function call(url: string, path: string, parameters: Record<string, string | undefined>): Promise<Json> {
  const response = await send(url, path, parameters);
  if (response.status !== 200) throw new Error(`${path} returned status ${response.status}`);
  return response.json();
}

export async function registerNewOrder(url: string, changes: Record<string, string | undefined> = {}): Promise<RegisteredOrder> {
  const order = anOrder(changes);
  const response = await call(url, "register.do", order);
  if (response.errorCode !== 0) throw new Error(`register returned an error: ${JSON.stringify(response)}`);
  return { ...response, orderNumber: order.orderNumber };
}

export async function control(url: string, method: string, path: string, body?: object): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${url}/sandbox/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

export const validCard = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };

export async function payNewOrder(url: string, changes: Record<string, string | undefined> = {}): Promise<RegisteredOrder> {
  const order = await registerNewOrder(url, changes);
  const { status } = await control(url, "POST", `payments/${order.orderId}/pay`, validCard);
  if (status !== 200) throw new Error(`pay returned status ${status}`);
  return order;
}
