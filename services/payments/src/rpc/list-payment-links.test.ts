import { PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
let ids: Record<string, string>;

beforeAll(async () => {
  harness = await startHarness();
  const createLink = async (hour: number, changes: object, sql = "true") => {
    const { id } = await harness.aPaymentLink(caller, changes);
    const createdAt = new Date(Date.UTC(2026, 2, 1, hour));
    await harness.sql("update payment_link set created_at = ? where id = ?", [createdAt, id]);
    if (sql !== "true") await harness.sql(`update payment_link set ${sql} where id = ?`, [id]);
    return id;
  };
  ids = {
    active: await createLink(1, { name: "Café 100%", maxPayments: 2 }, "payments_paid = 1"),
    inactive: await createLink(2, { name: "Concert", orderRef: "Spring_26" }, "is_active = false"),
    expired: await createLink(3, { name: "تذكرة" }, "expires_at = now() - interval '1 second'"),
    completed: await createLink(
      4,
      { name: "concert 2", maxPayments: 1 },
      "payments_paid = 1, expires_at = now() - interval '1 second'",
    ),
  };
  await harness.aPaymentLink(aBusinessCaller(), { name: "Concert" });
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, listCaller = caller) => {
  const { paymentLinks, total } = await harness.links.listPaymentLinks({ limit: 50, ...filter }, { caller: listCaller });
  const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id) ?? "unknown";
  return { names: paymentLinks.map(({ id }) => nameOf(id)), total };
};

describe("listPaymentLinks", () => {
  test("listPaymentLinks returns the newest links first, and the total number of links with each page", async () => {
    expect(await list()).toEqual({ names: ["completed", "expired", "inactive", "active"], total: 4 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ names: ["expired", "inactive"], total: 4 });
  });

  test("listPaymentLinks returns each link with the same fields as getPaymentLink", async () => {
    const { paymentLinks } = await harness.links.listPaymentLinks({ limit: 4 }, { caller });
    for (const link of paymentLinks) expect(await harness.links.getPaymentLink({ id: link.id }, { caller })).toEqual(link);
  });

  test.each(["active", "inactive", "expired", "completed"] as const)(
    "listPaymentLinks returns only links with the status %s when the request selects this status",
    async (name) => {
      const status = PaymentLinkStatus[name.toUpperCase() as "ACTIVE"];
      expect(await list({ status })).toEqual({ names: [name], total: 1 });
      const { paymentLinks } = await harness.links.listPaymentLinks({ limit: 50, status }, { caller });
      expect(paymentLinks).toMatchObject([{ status }]);
    },
  );

  test.each([
    ["CONCERT", ["completed", "inactive"]],
    ["spring_26", ["inactive"]],
    ["_", ["inactive"]],
    ["%", ["active"]],
    ["Cafe\u0301", ["active"]],
    ["تذكرة", ["expired"]],
    ["' or ''='", []],
  ])("listPaymentLinks finds the literal text %j in names and order references, and ignores case", async (search, names) => {
    expect((await list({ search: search.normalize("NFC") })).names).toEqual(names);
  });

  test("listPaymentLinks returns no link of another business", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ names: [], total: 0 });
  });

  test("listPaymentLinks rejects an operator as the caller", async () => {
    const error = await refusal(harness.links.listPaymentLinks({ limit: 1 }, { caller: adminCaller }));
    expect(error).toMatchObject({ code: "business_key_required" });
  });
});
