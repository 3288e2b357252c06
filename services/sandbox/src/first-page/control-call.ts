import { testCards, testPassword } from "../card-processor/test-cards.ts";
import type { Context } from "../context.ts";
import { query } from "../database.ts";

/** A control call, as a program would send it. */
export interface ControlCall {
  readonly method: "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly payload?: object;
}

type ReadField = (name: string) => string;
type CreateCall = (readField: ReadField) => ControlCall;

/**
 * Returns a function for each button. The function converts the form's values into a control call.
 */
export function createControlCalls({ database }: Context): Readonly<Record<string, CreateCall>> {
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
  const resourceSegment = (findIds: typeof orderIds, text: string) => {
    const name = lastPart(text);
    return encodeURIComponent(findIds(name, name)[0]?.id ?? (name || "-"));
  };
  const callsOn =
    (path: string, field: string, findIds: typeof orderIds) =>
    (action: string, payload: (readField: ReadField) => object = () => ({})): CreateCall =>
    (readField) => ({
      method: "POST",
      url: `${path}/${resourceSegment(findIds, readField(field))}${action}`,
      payload: payload(readField),
    });
  const paymentCall = callsOn("/sandbox/payments", "order", orderIds);
  const verificationCall = callsOn("/sandbox/kyc", "link", linkTokens);

  return {
    pay: paymentCall("/pay", (readField) => {
      const { pan, expiry, cvv2 } = testCards.find((card) => card.pan === readField("card")) ?? testCards[0] ?? {};
      return { pan, expiry, cvv2, password: testPassword };
    }),
    cancel: paymentCall("/cancel"),
    giveBack: paymentCall("/refund", (readField) => (readField("amount") === "" ? {} : { amount: readField("amount") })),
    reverse: paymentCall("/reverse"),
    submit: verificationCall("/submit", (readField) => (readField("outcome") === "" ? {} : { outcome: readField("outcome") })),
    expire: verificationCall("/expire"),
    tester: verificationCall("/tester"),
    approve: verificationCall("/review", () => ({ outcome: "approved" })),
    reject: verificationCall("/review", () => ({ outcome: "rejected" })),
    plant: (readField) => ({
      method: "PUT",
      url: "/sandbox/faults",
      payload: { operation: readField("operation"), mode: readField("mode"), times: Number(readField("times")) },
    }),
    clear: () => ({ method: "DELETE", url: "/sandbox/faults" }),
    advance: (readField) => ({
      method: "POST",
      url: "/sandbox/clock",
      payload: { advance_seconds: Number(readField("seconds")) },
    }),
  };
}
