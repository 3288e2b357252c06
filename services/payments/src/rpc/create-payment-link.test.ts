import { CustomerFieldRule, PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentLinkRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const countLinks = async (caller: ReturnType<typeof aBusinessCaller>) =>
  (await harness.links.listPaymentLinks({ limit: 1 }, { caller })).total;

describe("createPaymentLink", () => {
  test("createPaymentLink returns an ACTIVE link with an unguessable URL, hidden customer fields and zero totals", async () => {
    const caller = aBusinessCaller();
    const link = await harness.aPaymentLink(caller);
    expect(link).toMatchObject({
      businessId: caller.businessId,
      name: "Two tickets",
      amountMinor: 500_000n,
      currency: "DZD",
      language: "FR",
      status: PaymentLinkStatus.ACTIVE,
      url: expect.stringMatching(/^http:\/\/gateway\.test\/pay\/[\w-]{22}$/),
      customerFields: { name: CustomerFieldRule.HIDDEN, email: CustomerFieldRule.HIDDEN, phone: CustomerFieldRule.HIDDEN },
      metadata: "{}",
      paymentsPaid: 0,
      amountPaidMinor: 0n,
      amountRefundedMinor: 0n,
    });
    for (const name of [
      "description",
      "amountMinMinor",
      "orderRef",
      "successUrl",
      "conditionsUrl",
      "maxPayments",
      "expiresAtMs",
    ]) {
      expect(link).not.toHaveProperty(name);
    }
    expect(await harness.links.getPaymentLink({ id: link.id }, { caller })).toEqual(link);
  });

  test("createPaymentLink stores all fields of the request, and stores the metadata byte for byte", async () => {
    const caller = aBusinessCaller();
    const { amountMinor: _none, ...request } = aPaymentLinkRequest;
    const fields = {
      ...request,
      description: "Row 7",
      amountMinMinor: 5_000n,
      amountMaxMinor: 99_999_999_999_999n,
      language: "AR",
      orderRef: "basket-7",
      successUrl: "https://shop.test/thanks",
      failUrl: "https://shop.test/sorry",
      conditionsUrl: "https://shop.test/conditions",
      maxPayments: 1_000_000,
      expiresAtMs: BigInt(Date.now() + 3_600_000),
      metadata: '{"b":1.0,"a":"\\u00e9"}',
    };
    const customerFields = { name: CustomerFieldRule.REQUIRED, email: CustomerFieldRule.OPTIONAL };
    const link = await harness.links.createPaymentLink({ ...fields, customerFields }, { caller });
    expect(link).toMatchObject({ ...fields, customerFields: { ...customerFields, phone: CustomerFieldRule.HIDDEN } });
    expect(link).not.toHaveProperty("amountMinor");
    expect(await harness.links.getPaymentLink({ id: link.id }, { caller })).toEqual(link);
  });

  test.each([
    [{ amountMinor: undefined }, "/amount"],
    [{ amountMinMinor: 5_000n, amountMaxMinor: 6_000n }, "/amount"],
    [{ amountMinor: undefined, amountMinMinor: 6_000n, amountMaxMinor: 6_000n }, "/amount_max"],
    [{ expiresAtMs: 1_000n }, "/expires_at"],
  ])("createPaymentLink rejects %o and stores no link", async (changes, pointer) => {
    const caller = aBusinessCaller();
    const error = await refusal(harness.aPaymentLink(caller, changes));
    expect(error).toMatchObject({ kind: "invalid", code: "validation_failed", pointer });
    expect(await countLinks(caller)).toBe(0);
  });

  test("createPaymentLink returns the stored response for a repeated request with the same Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    const options = withIdempotencyKey(caller, "k");
    const link = await harness.links.createPaymentLink(aPaymentLinkRequest, withIdempotencyKey(caller, "k"));
    expect(await harness.links.createPaymentLink(aPaymentLinkRequest, options)).toEqual(link);
    expect(options.replayed).toBe(true);
    expect(await countLinks(caller)).toBe(1);
  });

  test.each([
    ["an operator", adminCaller],
    ["the platform", platformCaller],
  ])("createPaymentLink rejects %s as the caller", async (_name, caller) => {
    const error = await refusal(harness.links.createPaymentLink(aPaymentLinkRequest, { caller }));
    expect(error).toMatchObject({ kind: "forbidden", code: "business_key_required" });
  });
});

test("getPaymentLink returns the same error for another business's link, an unknown id and a malformed id", async () => {
  const { id } = await harness.aPaymentLink();
  for (const linkId of [id, uuidv7(), "no id"]) {
    const error = await refusal(harness.links.getPaymentLink({ id: linkId }, { caller: aBusinessCaller() }));
    expect(error).toMatchObject({ kind: "not_found", code: "not_found" });
  }
});
