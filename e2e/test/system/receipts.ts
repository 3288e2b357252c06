import { eventually } from "@amana/dev-env/eventually";
import { extractText } from "unpdf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, aPaidPayment, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

interface Mail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly { readonly content_type: string }[];
}

let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system, "Librairie El Kitab");
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

const readPdf = async (bytes: ArrayBuffer) => (await extractText(new Uint8Array(bytes), { mergePages: true })).text;

test("the receipt page of a payment offers the receipt as PDF, and sends only one e-mail when the buyer requests the e-mail twice", async () => {
  const { id } = await aPaidPayment(testSystem.system, business);
  const receipt = await business.amana.payments.getReceipt(id);
  expect(receipt).toMatchObject({ payment_id: id, business_name: "Librairie El Kitab", amount: "5000.00", helpline: "3020" });
  const { receipt_url: url = "" } = await business.amana.payments.get(id);
  expect(url).toMatch(new RegExp(`^${testSystem.system.gatewayUrl}/receipts/[0-9a-f]{64}$`));

  const page = await (await fetch(`${url}?lang=en`)).text();
  for (const value of [receipt.receipt_number, receipt.approval_code, "Librairie El Kitab"]) expect(page).toContain(value);
  const pdf = await readPdf(await (await fetch(`${url}/pdf?lang=fr`)).arrayBuffer());
  for (const value of [receipt.receipt_number, receipt.approval_code, "Librairie El Kitab"]) expect(pdf).toContain(value);

  const sendEmail = () => fetch(`${url}/email`, { method: "POST", body: new URLSearchParams({ email: "buyer@example.com" }) });
  expect((await sendEmail()).status).toBe(202);
  expect((await sendEmail()).status).toBe(202);
  const readMails = async () => (await (await fetch(`${testSystem.system.sandboxUrl}/mail.json`)).json()) as Mail[];
  const [mail] = await eventually(async () => {
    const mails = (await readMails()).filter(({ text }) => text.includes(url));
    expect(mails).toHaveLength(1);
    return mails;
  });
  expect(mail).toMatchObject({ to: "buyer@example.com", subject: expect.stringContaining("Librairie El Kitab") });
  expect(mail?.attachments).toMatchObject([{ content_type: "application/pdf" }]);
  const attachment = await fetch(`${testSystem.system.sandboxUrl}/mail/${mail?.id}/attachments/0`);
  expect(await readPdf(await attachment.arrayBuffer())).toContain(receipt.receipt_number);
});
