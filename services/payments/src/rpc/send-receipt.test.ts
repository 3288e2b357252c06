import { PdfRendererFailed } from "@amana/receipts/pdf";
import { platformCaller } from "@amana/rpc";
import { allTenants, forTenant } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal } from "@amana/testing";
import { simpleParser } from "mailparser";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { startMailServer } from "../../test/mail-server.ts";
import { deleteOldReceiptMails } from "../jobs/delete-old-receipt-mails.ts";

let mails: Awaited<ReturnType<typeof startMailServer>>;
let harness: Harness;
beforeAll(async () => {
  mails = await startMailServer();
  harness = await startHarness({ smtpUrl: mails.url() });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // Otherwise the worker of a test could send the queued e-mails of an earlier test.
  await harness.sql("delete from receipt_mail");
  mails.received.length = 0;
  mails.setMode("accept");
});

const caller = aBusinessCaller();

async function aReceipt() {
  const { id, receiptUrl = "" } = await harness.aFinishedPayment(caller);
  const token = receiptUrl.split("/").at(-1) ?? "";
  const send = (email: string, language = "FR") =>
    harness.receipts.sendReceipt({ token, email, language, businessName: "Librairie El Kitab" }, { caller: platformCaller });
  const rows = () =>
    harness.sql<{ status: string; attempts: number; is_planned: boolean }>(
      "select status, attempts, coalesce(next_attempt_at > now(), false) as is_planned from receipt_mail where payment_id = ? order by id",
      [id],
    );
  const makeDue = () =>
    harness.sql("update receipt_mail set next_attempt_at = now() where payment_id = ? and next_attempt_at is not null", [id]);
  return { id, token, receiptUrl, send, rows, makeDue };
}

describe("sendReceipt", () => {
  test.each(["FR", "AR", "EN"])(
    "sendReceipt queues an e-mail in the language %s, and sendReceiptMails sends the e-mail with the PDF",
    async (language) => {
      const { send, rows, receiptUrl } = await aReceipt();
      await send("Buyer@Example.com", language);
      expect(mails.received).toEqual([]);
      await using _worker = harness.startReceiptMails();
      await eventually(async () => expect(await rows()).toMatchObject([{ status: "SENT", attempts: 1, is_planned: false }]));
      const [mail] = mails.received;
      expect(mail?.to).toEqual(["Buyer@example.com"]);
      const { subject, text, html, from, attachments, messageId } = await simpleParser(mail?.source ?? "");
      expect(from?.text).toBe('"Amana" <receipts@amana.test>');
      expect(messageId).toMatch(/^<[0-9a-f-]{36}@amana\.test>$/);
      expect(subject).toContain("Librairie El Kitab");
      expect(text).toContain(receiptUrl);
      expect(html).toContain(`<html lang="${language.toLowerCase()}"`);
      expect(attachments).toMatchObject([
        { contentType: "application/pdf", filename: expect.stringMatching(/^\d{8}-\d{10}\.pdf$/) },
      ]);
      expect(attachments[0]?.content.subarray(0, 5).toString()).toBe("%PDF-");
    },
  );

  test("sendReceipt queues one e-mail for all requests with the same address within an hour, even if the requests are concurrent", async () => {
    const { send, rows } = await aReceipt();
    await Promise.all(["a@example.com", "A@example.com", "a@EXAMPLE.com", " a@example.com "].map((email) => send(email)));
    await send("a@example.com");
    expect(await rows()).toHaveLength(1);
  });

  test("sendReceipt queues another e-mail to the same address when an hour has passed according to the database's clock", async () => {
    const { id, send, rows } = await aReceipt();
    await send("a@example.com");
    await harness.sql("update receipt_mail set created_at = now() - interval '59 minutes' where payment_id = ?", [id]);
    await send("a@example.com");
    expect(await rows()).toHaveLength(1);
    await harness.sql("update receipt_mail set created_at = now() - interval '61 minutes' where payment_id = ?", [id]);
    await send("a@example.com");
    expect(await rows()).toHaveLength(2);
  });

  test("sendReceipt queues five e-mails for ten concurrent requests with different addresses, and rejects five requests", async () => {
    const { send, rows } = await aReceipt();
    const results = await Promise.allSettled(Array.from({ length: 10 }, (_, number) => send(`a${number}@example.com`)));
    const rejected = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(rejected).toHaveLength(5);
    for (const error of rejected) expect(error).toMatchObject({ kind: "conflict", code: "receipt_email_limit_reached" });
    expect(await rows()).toHaveLength(5);
  });

  test("sendReceipt counts deleted e-mails towards a payment's limit of five, and queues no new e-mail for an address that already got one", async () => {
    const { id, send, rows } = await aReceipt();
    for (const number of [1, 2, 3, 4, 5]) await send(`a${number}@example.com`);
    await harness.sql("update receipt_mail set created_at = now() - interval '31 days' where payment_id = ? and email < 'a5'", [
      id,
    ]);
    await forTenant(allTenants, () => deleteOldReceiptMails(harness.context));
    expect(await rows()).toHaveLength(1);
    await send("a5@example.com");
    expect(await refusal(send("a6@example.com"))).toMatchObject({ code: "receipt_email_limit_reached" });
    expect(await rows()).toHaveLength(1);
  });

  test.each(["", "no address", "a@example.com\r\nBcc: b@example.com", "a@example.com,b@example.com", "<a@example.com>"])(
    "sendReceipt rejects the address %j",
    async (email) => {
      const { send, rows } = await aReceipt();
      expect(await refusal(send(email))).toMatchObject({ kind: "invalid", code: "validation_failed", pointer: "/email" });
      expect(await rows()).toEqual([]);
    },
  );

  test("sendReceipt rejects a payment without a receipt", async () => {
    const { id, send, rows } = await aReceipt();
    await harness.sql("update payment set status = 'CANCELED' where id = ?", [id]);
    expect(await refusal(send("a@example.com"))).toMatchObject({ code: "receipt_not_available" });
    expect(await rows()).toEqual([]);
  });
});

describe("sendReceiptMails", () => {
  test("sendReceiptMails sends an e-mail when the SMTP server is available again after an outage", async () => {
    const { send, rows, makeDue } = await aReceipt();
    await mails.stop();
    await send("a@example.com");
    await using _worker = harness.startReceiptMails();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "QUEUED", attempts: 1 }]));
    await mails.start();
    await makeDue();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "SENT", attempts: 2 }]));
    expect(mails.received).toHaveLength(1);
  });

  test.each([
    ["the SMTP response 450 for the recipient", { at: "recipient", code: 450 }],
    ["the SMTP response 451 for the content", { at: "data", code: 451 }],
    ["no SMTP response", "hang"],
  ] as const)(
    "sendReceiptMails retries an e-mail after %s, and the SMTP server accepts the e-mail once",
    async (_failure, mode) => {
      const { send, rows, makeDue } = await aReceipt();
      mails.setMode(mode);
      await send("a@example.com");
      await using _worker = harness.startReceiptMails();
      await eventually(async () => expect(await rows()).toEqual([{ status: "QUEUED", attempts: 1, is_planned: true }]));
      mails.setMode("accept");
      await makeDue();
      await eventually(async () => expect(await rows()).toMatchObject([{ status: "SENT", attempts: 2 }]));
      expect(mails.received).toHaveLength(1);
    },
  );

  test.each([
    ["the SMTP response 550 for the recipient", { at: "recipient", code: 550 }],
    ["the SMTP response 554 for the content", { at: "data", code: 554 }],
  ] as const)("sendReceiptMails sets an e-mail to FAILED without a retry after %s", async (_failure, mode) => {
    const { send, rows } = await aReceipt();
    mails.setMode(mode);
    await send("a@example.com");
    await using _worker = harness.startReceiptMails();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "FAILED", attempts: 1, is_planned: false }]));
    expect(mails.received).toEqual([]);
  });

  test("sendReceiptMails sets an e-mail to FAILED if an attempt fails a day after the e-mail was queued", async () => {
    const { id, send, rows } = await aReceipt();
    mails.setMode({ at: "recipient", code: 450 });
    await send("a@example.com");
    await harness.sql("update receipt_mail set created_at = now() - interval '1 day' where payment_id = ?", [id]);
    await using _worker = harness.startReceiptMails();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "FAILED", attempts: 1 }]));
  });

  test("sendReceiptMails retries an e-mail whose PDF cannot be rendered, and sets it to FAILED a day after it was queued", async () => {
    const { id, send, rows, makeDue } = await aReceipt();
    const render = vi.spyOn(harness.context.pdfRenderer, "render").mockRejectedValue(new PdfRendererFailed("for a test"));
    await send("a@example.com");
    await using _worker = harness.startReceiptMails();
    await eventually(async () => expect(await rows()).toEqual([{ status: "QUEUED", attempts: 1, is_planned: true }]));
    await harness.sql("update receipt_mail set created_at = now() - interval '1 day' where payment_id = ?", [id]);
    await makeDue();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "FAILED", attempts: 2 }]));
    render.mockRestore();
    expect(mails.received).toEqual([]);
  });

  test("sendReceiptMails sets an e-mail to DROPPED and does not send it if the payment was reversed after the e-mail was queued", async () => {
    const { id, send, rows } = await aReceipt();
    await send("a@example.com");
    await harness.sql("update payment set status = 'CANCELED' where id = ?", [id]);
    await using _worker = harness.startReceiptMails();
    await eventually(async () => expect(await rows()).toMatchObject([{ status: "DROPPED", is_planned: false }]));
    expect(mails.received).toEqual([]);
  });

  test("sendReceiptMails sends each e-mail once if two instances of the job run", async () => {
    const { send, rows } = await aReceipt();
    for (const number of [1, 2, 3, 4]) await send(`a${number}@example.com`);
    await using _first = harness.startReceiptMails();
    await using _second = harness.startReceiptMails();
    await eventually(async () => expect((await rows()).map(({ status }) => status)).toEqual(["SENT", "SENT", "SENT", "SENT"]));
    expect(mails.received.flatMap(({ to }) => to).sort()).toEqual([1, 2, 3, 4].map((number) => `a${number}@example.com`));
  });
});
