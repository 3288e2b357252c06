import { testCards, testPassword } from "../card-processor/test-cards.ts";
import type { Context } from "../context.ts";
import { query } from "../database.ts";

/** A control call that a button of the first page sends. */
export interface ControlCall {
  readonly method: "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly payload?: object;
}

/** Returns the value of an input field. */
type ReadInput = (name: string) => string;
type CreateCall = (input: ReadInput) => ControlCall;

/** Creates the functions that return the call of each button for the values of the input fields. */
export function createControlCalls({ database }: Context): Readonly<Record<string, CreateCall>> {
  const orderIds = query<{ id: string }>(
    database,
    "select order_id as id from payment_order where order_id = ? or order_number = ?",
  );
  const linkTokens = query<{ id: string }>(
    database,
    "select link_token as id from kyc_application where link_token = ? or reference = ?",
  );
  // The last part of a page's URL is the id.
  const lastPart = (text: string) => (text.split(/[?#]/, 1)[0] ?? "").split("/").findLast((part) => part !== "") ?? "";
  const idFor = (find: typeof orderIds, text: string) => {
    const name = lastPart(text);
    return encodeURIComponent(find(name, name)[0]?.id ?? (name || "-"));
  };
  const on =
    (
      path: string,
      field: string,
      find: typeof orderIds,
      action: string,
      payload: (input: ReadInput) => object = () => ({}),
    ): CreateCall =>
    (input) => ({ method: "POST", url: `${path}/${idFor(find, input(field))}${action}`, payload: payload(input) });
  const order = (action: string, payload?: (input: ReadInput) => object) =>
    on("/sandbox/payments", "order", orderIds, action, payload);
  const link = (action: string, payload?: (input: ReadInput) => object) =>
    on("/sandbox/kyc", "link", linkTokens, action, payload);

  return {
    pay: order("/pay", (input) => {
      const { pan, expiry, cvv2 } = testCards.find((card) => card.pan === input("card")) ?? testCards[0] ?? {};
      return { pan, expiry, cvv2, password: testPassword };
    }),
    cancel: order("/cancel"),
    giveBack: order("/refund", (input) => (input("amount") === "" ? {} : { amount: input("amount") })),
    reverse: order("/reverse"),
    submit: link("/submit", (input) => (input("outcome") === "" ? {} : { outcome: input("outcome") })),
    expire: link("/expire"),
    tester: link("/tester"),
    approve: link("/review", () => ({ outcome: "approved" })),
    reject: link("/review", () => ({ outcome: "rejected" })),
    plant: (input) => ({
      method: "PUT",
      url: "/sandbox/faults",
      payload: { operation: input("operation"), mode: input("mode"), times: Number(input("times")) },
    }),
    clear: () => ({ method: "DELETE", url: "/sandbox/faults" }),
    advance: (input) => ({ method: "POST", url: "/sandbox/clock", payload: { advance_seconds: Number(input("seconds")) } }),
  };
}
