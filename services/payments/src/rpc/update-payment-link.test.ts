import { CustomerFieldRule, PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import type { UpdatePaymentLinkRequestSchema } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, refusal } from "@amana/testing";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

type Changes = Omit<MessageInitShape<typeof UpdatePaymentLinkRequestSchema>, "id" | "$typeName">;
const update = (id: string, changes: Changes, by = caller) => harness.links.updatePaymentLink({ ...changes, id }, { caller: by });
const read = (id: string) => harness.links.getPaymentLink({ id }, { caller });
const inAnHour = () => BigInt(Date.now() + 3_600_000);
const aCompleteLink = () =>
  harness.aPaymentLink(caller, {
    description: "Row 7",
    orderRef: "basket-7",
    successUrl: "https://shop.test/thanks",
    failUrl: "https://shop.test/sorry",
    conditionsUrl: "https://shop.test/conditions",
    maxPayments: 5,
    expiresAtMs: inAnHour(),
    metadata: '{"order":7}',
  });

describe("updatePaymentLink", () => {
  test.each<Changes>([
    { name: "One ticket" },
    { description: "Row 8" },
    { successUrl: "https://shop.test/a" },
    { failUrl: "https://shop.test/b" },
    { conditionsUrl: "https://shop.test/c" },
    { maxPayments: 1 },
    { expiresAtMs: 4_102_444_800_000n },
    { metadata: '{"order":8.0}' },
    { status: PaymentLinkStatus.INACTIVE },
  ])("updatePaymentLink changes only %o", async (changes) => {
    const linkBefore = await aCompleteLink();
    const changedLink = await update(linkBefore.id, changes);
    expect(changedLink).toEqual({ ...linkBefore, ...changes, updatedAtMs: changedLink.updatedAtMs });
    expect(changedLink.updatedAtMs).toBeGreaterThanOrEqual(linkBefore.updatedAtMs);
    expect(await read(linkBefore.id)).toEqual(changedLink);
  });

  test.each([
    ["description", "description"],
    ["success_url", "successUrl"],
    ["fail_url", "failUrl"],
    ["conditions_url", "conditionsUrl"],
    ["max_payments", "maxPayments"],
    ["expires_at", "expiresAtMs"],
  ] as const)("updatePaymentLink clears the field %s", async (name, property) => {
    const linkBefore = await aCompleteLink();
    const changedLink = await update(linkBefore.id, { cleared: [name] });
    expect({ ...changedLink, updatedAtMs: 0n }).toEqual({ ...linkBefore, [property]: undefined, updatedAtMs: 0n });
    expect(await read(linkBefore.id)).toEqual(changedLink);
  });

  test("updatePaymentLink changes only the customer fields that the request contains", async () => {
    const { REQUIRED, OPTIONAL, HIDDEN } = CustomerFieldRule;
    const { id } = await harness.aPaymentLink(caller, { customerFields: { name: REQUIRED, email: OPTIONAL } });
    expect(await update(id, { customerFields: { email: REQUIRED } })).toMatchObject({
      customerFields: { name: REQUIRED, email: REQUIRED, phone: HIDDEN },
    });
    expect(await update(id, { customerFields: { name: HIDDEN, phone: OPTIONAL } })).toMatchObject({
      customerFields: { name: HIDDEN, email: REQUIRED, phone: OPTIONAL },
    });
  });

  test("updatePaymentLink does not change updated_at when the request is empty or contains only the current values", async () => {
    const linkBefore = await aCompleteLink();
    for (const changes of [{}, { name: linkBefore.name, maxPayments: 5, status: PaymentLinkStatus.ACTIVE }]) {
      expect(await update(linkBefore.id, changes)).toEqual(linkBefore);
    }
  });

  test("updatePaymentLink makes a COMPLETED and expired link ACTIVE after requests have raised max_payments and postponed expires_at", async () => {
    const { id } = await harness.aPaymentLink(caller, { maxPayments: 1, expiresAtMs: inAnHour() });
    await harness.sql("update payment_link set expires_at = now() - interval '1 second', payments_paid = 1 where id = ?", [id]);
    expect(await read(id)).toMatchObject({ status: PaymentLinkStatus.COMPLETED });
    expect(await update(id, { maxPayments: 2 })).toMatchObject({ status: PaymentLinkStatus.EXPIRED });
    expect(await read(id)).toMatchObject({ status: PaymentLinkStatus.EXPIRED });
    expect(await update(id, { expiresAtMs: inAnHour() })).toMatchObject({ status: PaymentLinkStatus.ACTIVE });
    expect(await update(id, { maxPayments: 1 })).toMatchObject({ status: PaymentLinkStatus.COMPLETED });
    expect(await update(id, { cleared: ["max_payments"] })).toMatchObject({ status: PaymentLinkStatus.ACTIVE });
  });

  test("updatePaymentLink makes an INACTIVE link ACTIVE if the request sets the status ACTIVE, but not if the request increases max_payments", async () => {
    const { id } = await harness.aPaymentLink(caller, { maxPayments: 1 });
    expect(await update(id, { status: PaymentLinkStatus.INACTIVE })).toMatchObject({ status: PaymentLinkStatus.INACTIVE });
    expect(await update(id, { maxPayments: 2 })).toMatchObject({ status: PaymentLinkStatus.INACTIVE });
    expect(await update(id, { status: PaymentLinkStatus.ACTIVE })).toMatchObject({ status: PaymentLinkStatus.ACTIVE });
  });

  test.each<[Changes, string]>([
    [{ expiresAtMs: 1_000n }, "/expires_at"],
    [{ status: PaymentLinkStatus.COMPLETED }, "/status"],
    [{ status: PaymentLinkStatus.EXPIRED }, "/status"],
  ])("updatePaymentLink rejects %o and changes nothing", async (changes, pointer) => {
    const linkBefore = await aCompleteLink();
    const error = await refusal(update(linkBefore.id, { name: "Another", ...changes }));
    expect(error).toMatchObject({ kind: "invalid", code: "validation_failed", pointer });
    expect(await read(linkBefore.id)).toEqual(linkBefore);
  });

  test("updatePaymentLink returns the same error for another business's link, an unknown id and a malformed id", async () => {
    const linkBefore = await aCompleteLink();
    for (const id of [linkBefore.id, uuidv7(), "no id"]) {
      expect(await refusal(update(id, { name: "x" }, aBusinessCaller()))).toMatchObject({ kind: "not_found", code: "not_found" });
    }
    expect(await read(linkBefore.id)).toEqual(linkBefore);
  });
});
