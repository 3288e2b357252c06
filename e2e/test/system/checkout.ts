import { Buyer } from "@amana/dev-env/buyer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, callSandbox, createClient, type TestBusiness, type TestSystem, validCard } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system, "Librairie El Kitab", ["PAYMENT_COMPLETED", "PAYMENT_LINK_COMPLETED"]);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

const payments = (linkId: string) => business.amana.payments.list({ payment_link_id: linkId }).page();

/** Pays an order at the sandbox. Returns the address to which the sandbox redirects the browser. */
async function pay(formUrl: string): Promise<string> {
  const orderId = new URL(formUrl).pathname.split("/").at(-1);
  const { redirect_url } = (await callSandbox(testSystem.system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as {
    redirect_url: string;
  };
  return redirect_url;
}

test("GET /payments with a payment link's id or a buyer's e-mail address returns the payment that the buyer made with the link", async () => {
  const link = await business.amana.paymentLinks.create({
    name: "Cours d'arabe",
    amount: "5000.00",
    order_ref: "cours-1",
    customer_fields: { email: "REQUIRED", phone: "OPTIONAL" },
    max_payments: 1,
    metadata: { course: 7 },
  });
  const buyer = new Buyer(link.url);
  const page = await buyer.open("?lang=en");
  expect(page).toMatchObject({ status: 200, html: expect.stringContaining("Librairie El Kitab") });
  expect(await buyer.submit(page, { phone: "0550 12 34 56" })).toMatchObject({ status: 422 });

  const started = await buyer.submit(page, { email: "Amina@example.dz", phone: "0550 12 34 56" });
  expect(started.status).toBe(303);
  const repeated = await buyer.submit(page, { email: "Amina@example.dz", phone: "0550 12 34 56" });
  expect(repeated.location).toBe(started.location);

  const returned = await buyer.read(await pay(started.location ?? ""));
  const result = await buyer.read(returned.location ?? "");
  expect(result).toMatchObject({ status: 200, html: expect.stringContaining("3020") });

  const { items } = await payments(link.id);
  expect(items).toMatchObject([
    {
      status: "PAID",
      payment_link_id: link.id,
      order_ref: "cours-1",
      customer_email: "Amina@example.dz",
      customer_phone: "+213550123456",
    },
  ]);
  const { body: webhook } = (await business.receiver.next("PAYMENT_COMPLETED", items[0]?.id ?? "", 90_000)) ?? {};
  expect(webhook).toMatchObject({ payment_link_id: link.id, order_ref: "cours-1", metadata: { course: 7 } });
  const completed = await business.receiver.next("PAYMENT_LINK_COMPLETED", items[0]?.id ?? "", 90_000);
  expect(completed?.body).toMatchObject({ payment_link_id: link.id, metadata: { course: 7 } });
  const byEmail = await business.amana.payments.list({ customer_email: "amina@EXAMPLE.dz" }).page();
  expect(byEmail.items.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  expect(await business.amana.paymentLinks.get(link.id)).toMatchObject({
    status: "COMPLETED",
    payments_paid: 1,
    amount_paid: "5000.00",
  });
  expect((await new Buyer(link.url).open()).status).toBe(410);
});

test("POST /pay/{token} returns status 410 after the API has confirmed that the link is inactive or the business is disabled", async () => {
  const otherBusiness = await aBusiness(testSystem.system, "Ferme");
  try {
    const link = await otherBusiness.amana.paymentLinks.create({ name: "Miel", amount: "900.00" });
    const buyer = new Buyer(link.url);
    const page = await buyer.open();
    await otherBusiness.amana.paymentLinks.update(link.id, { status: "INACTIVE" });
    expect((await buyer.submit(page)).status).toBe(410);
    await otherBusiness.amana.paymentLinks.update(link.id, { status: "ACTIVE" });
    const openAgain = await buyer.open();
    expect(openAgain.status).toBe(200);
    await createClient(testSystem.system, testSystem.system.adminKey).businesses.update(otherBusiness.id, { status: "DISABLED" });
    expect((await buyer.submit(openAgain)).status).toBe(410);
    expect((await buyer.open()).status).toBe(410);
  } finally {
    await otherBusiness.receiver[Symbol.asyncDispose]();
  }
});

test("GET /payments with the id of another business's payment link returns status 404 with code payment_link_not_found", async () => {
  const otherBusiness = await aBusiness(testSystem.system, "Autre");
  try {
    const link = await otherBusiness.amana.paymentLinks.create({ name: "Miel", amount: "900.00" });
    await expect(payments(link.id)).rejects.toMatchObject({ status: 404, code: "payment_link_not_found" });
    await expect(business.amana.paymentLinks.get(link.id)).rejects.toMatchObject({ status: 404, code: "not_found" });
  } finally {
    await otherBusiness.receiver[Symbol.asyncDispose]();
  }
});
