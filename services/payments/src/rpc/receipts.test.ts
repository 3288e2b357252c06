import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { receiptOf } from "@amana/receipts";
import { PdfRendererFailed } from "@amana/receipts/pdf";
import { platformCaller } from "@amana/rpc";
import { FairSemaphore } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { toReceiptMessage } from "../receipt/receipt.message.ts";
import { renderPdf } from "../receipt/render-pdf.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const caller = aBusinessCaller();
const platform = { caller: platformCaller };
const getReceipt = (paymentId: string) => harness.receipts.getReceipt({ paymentId }, { caller });

async function aRefundedPayment(amountMinor?: bigint) {
  const { id } = await harness.aFinishedPayment(caller);
  return await harness.payments.refundPayment({ id, amountMinor }, { caller, timeoutMs: 20_000 });
}

/** Reads the payment at the processor, even if the last read was less than ten seconds ago. */
async function refresh(id: string) {
  await harness.sql("update payment set checked_at = null where id = ?", [id]);
  await harness.payments.refreshPayment({ id }, { caller, timeoutMs: 20_000 });
}

describe("getReceipt", () => {
  test("getReceipt returns, for a PAID payment, a constant receipt number, the time of the payment and the token of the receipt page", async () => {
    const payment = await harness.aFinishedPayment(caller);
    const receipt = await getReceipt(payment.id);
    expect(receipt).toMatchObject({ payment, issuedAtMs: payment.paidAtMs, canSendEmail: false });
    expect(receipt.receiptNumber).toMatch(new RegExp(`^20\\d{6}-${payment.processorOrderNumber}$`));
    expect(receipt.refundedAtMs).toBeUndefined();
    expect(payment.receiptUrl).toBe(`http://gateway.test/receipts/${receipt.token}`);
    expect(await getReceipt(payment.id)).toEqual(receipt);
  });

  test.each([120_000n, undefined])(
    "getReceipt returns the amount and time of a refund of %s centimes (undefined means the full amount)",
    async (amountMinor) => {
      const payment = await aRefundedPayment(amountMinor);
      const { receiptNumber, ...receipt } = await getReceipt(payment.id);
      expect(receipt.payment).toMatchObject({
        status: PaymentStatus.REFUNDED,
        refundedAmountMinor: amountMinor ?? payment.amountMinor,
        receiptUrl: `http://gateway.test/receipts/${receipt.token}`,
      });
      expect(receipt.refundedAtMs).toBeGreaterThan(payment.paidAtMs ?? 0n);
      expect(receipt.issuedAtMs).toBe(receipt.refundedAtMs);
      expect(receiptNumber).toContain(payment.processorOrderNumber);
    },
  );

  test("getReceipt returns the time at which an external refund was made at the processor", async () => {
    const payment = await harness.aFinishedPayment(caller);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1000.00");
    await refresh(payment.id);
    expect(await getReceipt(payment.id)).toMatchObject({
      payment: { refundedAmountMinor: 100_000n },
      refundedAtMs: expect.any(BigInt),
    });
  });

  test("getReceipt omits the refund time if an earlier version adopted the external refund", async () => {
    const { id } = await aRefundedPayment();
    await harness.sql("update payment set refunded_at = null where id = ?", [id]);
    expect((await getReceipt(id)).refundedAtMs).toEqual(expect.any(BigInt));
    await harness.sql("update payment set origin = 'PROCESSOR' where id = ?", [id]);
    expect((await getReceipt(id)).refundedAtMs).toBeUndefined();
  });

  test.each(["PENDING", "REFUSED", "FAILED", "EXPIRED", "CANCELED"])(
    "getReceipt rejects a payment in status %s, and listPayments returns that payment without a receipt_url",
    async (status) => {
      const { id } = await harness.aPendingPayment(caller);
      await harness.sql("update payment set status = ?, next_check_at = null where id = ?", [status, id]);
      expect(await refusal(getReceipt(id))).toMatchObject({ kind: "conflict", code: "receipt_not_available" });
      const { payments } = await harness.payments.listPayments({ limit: 100 }, { caller });
      expect(payments.find((payment) => payment.id === id)?.receiptUrl).toBeUndefined();
    },
  );

  test("getReceipt rejects a payment that was reversed at the processor", async () => {
    const payment = await harness.aFinishedPayment(caller);
    await harness.sandbox.reverse(payment.processorOrderId);
    await refresh(payment.id);
    const error = await refusal(getReceipt(payment.id));
    expect(error).toMatchObject({ code: "receipt_not_available", members: { payment_status: "CANCELED" } });
  });

  test("getReceipt returns not_found for a payment of another business, an unknown id and a malformed id", async () => {
    const { id } = await harness.aFinishedPayment(aBusinessCaller());
    for (const paymentId of [id, "0195a000-0000-7000-8000-000000000000", "x", ""]) {
      expect(await refusal(getReceipt(paymentId))).toMatchObject({ kind: "not_found" });
    }
  });
});

describe("findReceipt", () => {
  test("findReceipt returns the receipt for the token in receipt_url", async () => {
    const payment = await harness.aFinishedPayment(caller);
    const token = payment.receiptUrl?.split("/").at(-1) ?? "";
    expect(await harness.receipts.findReceipt({ token }, platform)).toEqual(await getReceipt(payment.id));
  });

  test("findReceipt returns a reversed payment with its status and an empty receipt number", async () => {
    const payment = await harness.aFinishedPayment(caller);
    const token = payment.receiptUrl?.split("/").at(-1) ?? "";
    await harness.sandbox.reverse(payment.processorOrderId);
    await refresh(payment.id);
    expect(await harness.receipts.findReceipt({ token }, platform)).toMatchObject({
      payment: { status: PaymentStatus.CANCELED },
      receiptNumber: "",
      issuedAtMs: 0n,
    });
    const error = await refusal(harness.receipts.renderReceipt({ token, language: "FR", businessName: "x" }, platform));
    expect(error).toMatchObject({ code: "receipt_not_available" });
  });

  test.each(["", "x", "a".repeat(64), "A".repeat(64), "a\0b", "' or ''='"])(
    "findReceipt rejects the unknown token %j",
    async (token) => {
      expect(await refusal(harness.receipts.findReceipt({ token }, platform))).toMatchObject({ kind: "not_found" });
    },
  );

  test.each([
    ["a business", aBusinessCaller()],
    ["an operator", adminCaller],
  ])("findReceipt, renderReceipt and sendReceipt reject %s as the caller", async (_name, rejectedCaller) => {
    const token = "a".repeat(64);
    const { findReceipt, renderReceipt, sendReceipt } = harness.receipts;
    const calls = [findReceipt, renderReceipt, sendReceipt].map((rpc) => refusal(rpc({ token }, { caller: rejectedCaller })));
    for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: "platform_required" });
  });
});

describe("renderReceipt", () => {
  test.each(["FR", "AR", "EN"])("renderReceipt returns a PDF in the language %s", async (language) => {
    const payment = await harness.aFinishedPayment(caller);
    const token = payment.receiptUrl?.split("/").at(-1) ?? "";
    const { pdf } = await harness.receipts.renderReceipt({ token, language, businessName: "Librairie" }, platform);
    expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe("%PDF-");
    expect(Buffer.from(pdf).toString("latin1")).toContain(`/Lang (${language.toLowerCase()}`);
  });

  test("renderReceipt returns receipt_not_rendered if the receipt cannot be rendered, and the RPC client does not repeat the call", async () => {
    const payment = await harness.aFinishedPayment(caller);
    const token = payment.receiptUrl?.split("/").at(-1) ?? "";
    const render = vi.spyOn(harness.context.pdfRenderer, "render").mockRejectedValue(new PdfRendererFailed("for a test"));
    const rendering = harness.receipts.renderReceipt({ token, language: "FR", businessName: "Librairie" }, platform);
    expect(await refusal(rendering)).toMatchObject({ kind: "unavailable", code: "receipt_not_rendered" });
    expect(render).toHaveBeenCalledTimes(1);
    render.mockRestore();
  });

  test("renderPdf renders a receipt of a business before the second of 30 receipts of another business", async () => {
    const payment = await harness.stored((await harness.aFinishedPayment(caller)).id);
    const receipt = receiptOf(toReceiptMessage(payment, harness.context), "Librairie");
    const order: string[] = [];
    const render = async (businessId: string) => {
      await renderPdf(harness.context, businessId, receipt, "fr");
      order.push(businessId);
    };
    await Promise.all([...Array.from({ length: 30 }, () => render("many")), render("one")]);
    expect(order.slice(0, 2)).toEqual(["many", "one"]);
    expect(order).toHaveLength(31);
  });

  test("renderPdf throws overloaded for a receipt that got no slot", async () => {
    const payment = await harness.stored((await harness.aFinishedPayment(caller)).id);
    const receipt = receiptOf(toReceiptMessage(payment, harness.context), "Librairie");
    const context = { ...harness.context, pdfSlots: new FairSemaphore({ slots: 0, perTenant: 0 }) };
    const rendering = renderPdf(context, payment.businessId, receipt, "fr");
    await expect(rendering).rejects.toMatchObject({ kind: "unavailable", code: "overloaded" });
  });
});

test("sendReceipt returns receipt_email_not_available when the deployment has no SMTP server", async () => {
  const payment = await harness.aFinishedPayment(caller);
  const token = payment.receiptUrl?.split("/").at(-1) ?? "";
  const error = await refusal(harness.receipts.sendReceipt({ token, email: "name@example.com", language: "FR" }, platform));
  expect(error).toMatchObject({ code: "receipt_email_not_available" });
  expect(await harness.sql("select 1 from receipt_mail where payment_id = ?", [payment.id])).toEqual([]);
});
