import { testCards, testPassword } from "../card-processor/test-cards.ts";
import type { Context } from "../context.ts";
import { query } from "../database.ts";

/** A control call, as a program would send it. */
export interface ControlCall {
  readonly method: "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly payload?: object;
}

type Typed = (name: string) => string;
type Make = (typed: Typed) => ControlCall;

/** Returns, for each button, a function from the form's values to the control call. */
export function createControlCalls({ database }: Context): Readonly<Record<string, Make>> {
  const orderIds = query<{ id: string }>(
    database,
    "select order_id as id from payment_order where order_id = ? or order_number = ?",
  );
  const linkTokens = query<{ id: string }>(
    database,
    "select link_token as id from kyc_application where link_token = ? or reference = ?",
  );
  // The last path segment of a page's address identifies its order or verification.
  const lastPart = (text: string) => (text.split(/[?#]/, 1)[0] ?? "").split("/").findLast((part) => part !== "") ?? "";
  const named = (find: typeof orderIds, text: string) => {
    const name = lastPart(text);
    return encodeURIComponent(find(name, name)[0]?.id ?? (name || "-"));
  };
  const on =
    (path: string, field: string, find: typeof orderIds, action: string, payload: (typed: Typed) => object = () => ({})): Make =>
    (typed) => ({ method: "POST", url: `${path}/${named(find, typed(field))}${action}`, payload: payload(typed) });
  const order = (action: string, payload?: (typed: Typed) => object) =>
    on("/sandbox/payments", "order", orderIds, action, payload);
  const link = (action: string, payload?: (typed: Typed) => object) => on("/sandbox/kyc", "link", linkTokens, action, payload);

  return {
    pay: order("/pay", (typed) => {
      const { pan, expiry, cvv2 } = testCards.find((card) => card.pan === typed("card")) ?? testCards[0] ?? {};
      return { pan, expiry, cvv2, password: testPassword };
    }),
    cancel: order("/cancel"),
    giveBack: order("/refund", (typed) => (typed("amount") === "" ? {} : { amount: typed("amount") })),
    reverse: order("/reverse"),
    submit: link("/submit", (typed) => (typed("outcome") === "" ? {} : { outcome: typed("outcome") })),
    expire: link("/expire"),
    tester: link("/tester"),
    approve: link("/review", () => ({ outcome: "approved" })),
    reject: link("/review", () => ({ outcome: "rejected" })),
    plant: (typed) => ({
      method: "PUT",
      url: "/sandbox/faults",
      payload: { operation: typed("operation"), mode: typed("mode"), times: Number(typed("times")) },
    }),
    clear: () => ({ method: "DELETE", url: "/sandbox/faults" }),
    advance: (typed) => ({ method: "POST", url: "/sandbox/clock", payload: { advance_seconds: Number(typed("seconds")) } }),
  };
}
