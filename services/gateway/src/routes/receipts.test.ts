import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { DomainError } from "@amana/rpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aReceipt, aReversedReceipt, receiptToken } from "../../test/a-receipt.ts";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  gateway.behaviour.keyLeases.resolveBusiness = async () => ({
    name: "Librairie <El> Kitab",
    status: BusinessStatus.ACTIVE,
    leaseMs: 0,
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  const { receipts } = gateway.behaviour;
  receipts.findReceipt = async () => aReceipt();
  receipts.getReceipt = async () => aReceipt();
  receipts.renderReceipt = async () => ({ pdf: Buffer.from("%PDF-1.7") });
  receipts.sendReceipt = async () => ({});
});

const page = `/receipts/${receiptToken}`;
const refund = { status: PaymentStatus.REFUNDED, refundedAmountMinor: 120_000n };
const refundedAtMs = 1_795_698_000_000n;
const get = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ method: "GET", url, headers });
const rejectWith =
  (code: string, kind: "conflict" | "not_found" | "unavailable" | "invalid" = "conflict") =>
  async () => {
    throw new DomainError(kind, code, "The reason.", kind === "invalid" ? { pointer: "/email" } : {});
  };
const lastCall = () => gateway.received.at(-1);

test("the gateway counts a PDF towards the byte limit of the caller", async () => {
  await using boundedGateway = await startTestGateway({ byteBounds: { perNetwork: 1_000 } });
  boundedGateway.behaviour.receipts.findReceipt = async () => aReceipt();
  boundedGateway.behaviour.receipts.renderReceipt = async () => ({ pdf: Buffer.alloc(2_000) });
  boundedGateway.behaviour.keyLeases.resolveBusiness = gateway.behaviour.keyLeases.resolveBusiness;
  expect((await boundedGateway.app.inject({ url: `${page}/pdf` })).statusCode).toBe(429);
});

describe("GET /payments/{id}/receipt", () => {
  const url = `/api/v1/payments/${aReceipt().payment.id}/receipt`;
  const getOwn = (path = url, headers = {}) => get(path, { ...gateway.business.headers, ...headers });

  test("GET /payments/{id}/receipt returns the receipt of a PAID payment as JSON", async () => {
    const response = await getOwn();
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(response.json()).toEqual({
      payment_id: aReceipt().payment.id,
      receipt_number: "20261125-1000000001",
      issued_at: "2026-11-25T13:05:00.000Z",
      business_name: "Librairie <El> Kitab",
      order_ref: "panier-7",
      description: "Deux billets <b>“L’Été”</b>",
      processor_order_id: "V721uPPfNNofVQAAABL3",
      processor_order_number: "1000000001",
      approval_code: "303004",
      resp_code_desc: "Votre paiement a été accepté",
      card_brand: "EDAHABIA",
      masked_pan: "628058**7215",
      amount: "5000.00",
      currency: "DZD",
      paid_at: "2026-11-25T13:05:00.000Z",
      helpline: "3020",
    });
    expect(lastCall()).toMatchObject({ rpc: "GetReceipt", call: { caller: { role: "business" } } });
  });

  test("GET /payments/{id}/receipt and the receipt page contain the name that the buyer entered at a payment link", async () => {
    gateway.behaviour.receipts.getReceipt = async () => aReceipt({ customerName: "Yacine Benali" });
    expect((await getOwn()).json()).toMatchObject({ customer_name: "Yacine Benali" });
    gateway.behaviour.receipts.findReceipt = async () => aReceipt({ customerName: "Yacine Benali" });
    expect((await get(page)).body).toContain("Yacine Benali");
  });

  test("GET /payments/{id}/receipt returns the amount and the time of a refund", async () => {
    gateway.behaviour.receipts.getReceipt = async () => aReceipt(refund, { refundedAtMs, issuedAtMs: refundedAtMs });
    expect((await getOwn()).json()).toMatchObject({
      amount: "5000.00",
      refunded_amount: "1200.00",
      refunded_at: "2026-11-26T13:00:00.000Z",
      issued_at: "2026-11-26T13:00:00.000Z",
    });
  });

  test.each([
    ["", "FR"],
    ["?lang=ar", "AR"],
    ["?lang=EN", "EN"],
  ])(
    "GET /payments/{id}/receipt with Accept: application/pdf and the query %j returns the PDF in the language %s",
    async (query, language) => {
      const response = await getOwn(`${url}${query}`, { accept: "application/pdf" });
      expect(response.statusCode).toBe(200);
      expect(response.headers).toMatchObject({
        "content-type": "application/pdf",
        "content-disposition": 'attachment; filename="20261125-1000000001.pdf"',
        vary: "Accept",
      });
      expect(response.rawPayload.toString()).toBe("%PDF-1.7");
      expect(lastCall()?.request).toMatchObject({ token: receiptToken, language, businessName: "Librairie <El> Kitab" });
      expect(lastCall()?.call.caller.role).toBe("platform");
    },
  );

  test("GET /payments/{id}/receipt returns 409 with the code receipt_not_available for a payment without a receipt", async () => {
    gateway.behaviour.receipts.getReceipt = rejectWith("receipt_not_available");
    for (const accept of ["application/json", "application/pdf"]) {
      const response = await getOwn(url, { accept });
      expect([response.statusCode, response.json().code]).toEqual([409, "receipt_not_available"]);
    }
  });

  test("GET /payments/{id}/receipt returns 422 for an unknown language, 401 for a request without a key, and 404 for a malformed id", async () => {
    expect((await getOwn(`${url}?lang=de`)).statusCode).toBe(422);
    expect((await get(url)).statusCode).toBe(401);
    expect((await getOwn("/api/v1/payments/x/receipt")).statusCode).toBe(404);
    expect(gateway.received).toEqual([]);
  });

  test("GET /payments/{id}/receipt returns 503 with Retry-After while too many receipts are rendered", async () => {
    gateway.behaviour.receipts.renderReceipt = rejectWith("service_unavailable", "unavailable");
    const response = await getOwn(url, { accept: "application/pdf" });
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "1"]);
  });

  test("GET /payments/{id}/receipt calls renderReceipt once and returns 503 receipt_not_rendered if the receipt cannot be rendered", async () => {
    gateway.behaviour.receipts.renderReceipt = async () => {
      throw new DomainError("unavailable", "receipt_not_rendered", "not rendered");
    };
    const response = await getOwn(url, { accept: "application/pdf" });
    expect([response.statusCode, response.json().code]).toEqual([503, "receipt_not_rendered"]);
    expect(response.headers["retry-after"]).toBe("600");
    expect(gateway.received.filter(({ rpc }) => rpc === "RenderReceipt")).toHaveLength(1);
  });
});

describe("GET /receipts/{token}", () => {
  test.each([
    ["", {}, "fr", "ltr", "Reçu de paiement"],
    ["?lang=ar", {}, "ar", "rtl", "إيصال الدفع"],
    ["?lang=en&utm_source=shop", {}, "en", "ltr", "Payment receipt"],
    ["?lang=xx", { "accept-language": "en" }, "fr", "ltr", "Reçu de paiement"],
  ])(
    "GET /receipts/{token} requires no key, and shows the receipt in the language of the query %j or of the payment",
    async (query, headers, language, direction, title) => {
      const response = await get(`${page}${query}`, headers);
      expect(response.statusCode).toBe(200);
      expect(response.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
      });
      expect(response.headers["content-security-policy"]).toMatch(/form-action 'self'; .*frame-ancestors 'none'/);
      expect(response.body).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(response.body).toContain(`<h1>${title}</h1>`);
      expect(response.body).toContain("Librairie &lt;El&gt; Kitab");
      expect(response.body).not.toMatch(/(src|href|action)="(https?:)?\/\//);
      expect(gateway.received[0]).toMatchObject({
        rpc: "FindReceipt",
        request: { token: receiptToken },
        call: { caller: { role: "platform" } },
      });
    },
  );

  test("GET /receipts/{token} shows the paid and the refunded amount after a refund", async () => {
    gateway.behaviour.receipts.findReceipt = async () => aReceipt(refund, { refundedAtMs });
    const { body } = await get(`${page}?lang=en`);
    expect(body).toMatch(/5,000.00\u00a0DZD.*1,200.00\u00a0DZD.*26 November 2026/s);
  });

  test("GET /receipts/{token} has no e-mail form when the deployment sends no e-mail", async () => {
    expect((await get(page)).body).toContain("<form");
    gateway.behaviour.receipts.findReceipt = async () => aReceipt({}, { canSendEmail: false });
    expect((await get(page)).body).not.toContain("<form");
  });

  test.each([
    ["/pdf", {}],
    ["?format=pdf", {}],
    ["", { accept: "application/pdf" }],
  ])("GET /receipts/{token} returns the PDF for the path suffix %j and the headers %o", async (path, headers) => {
    const response = await get(`${page}${path}`, headers);
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/pdf"]);
    expect(response.rawPayload.toString()).toBe("%PDF-1.7");
    expect((await get(`${page}/pdf?lang=ar`)).statusCode).toBe(200);
    expect(lastCall()?.request).toMatchObject({ language: "AR" });
  });

  test.each(["", "/pdf"])(
    "GET /receipts/{token}%s for a reversed payment sends a 409 page that states the reversal",
    async (path) => {
      gateway.behaviour.receipts.findReceipt = async () => aReversedReceipt();
      const response = await get(`${page}${path}?lang=en`);
      expect(response.statusCode).toBe(409);
      expect(response.body).toContain("<h1>Payment canceled</h1>");
      expect(response.body).not.toContain("303004");
    },
  );

  test("GET /receipts/{token} for a PENDING payment sends a 409 page that states that no payment was received", async () => {
    gateway.behaviour.receipts.findReceipt = async () =>
      aReceipt({ status: PaymentStatus.PENDING, paidAtMs: undefined }, { receiptNumber: "", issuedAtMs: 0n });
    const response = await get(`${page}?lang=en`);
    expect(response.statusCode).toBe(409);
    expect(response.body).toContain("<h1>No payment received</h1>");
  });

  test("GET /receipts/{token} shows an error page in the browser's language for an unknown token, a malformed path or an unavailable service", async () => {
    const english = { "accept-language": "en" };
    gateway.behaviour.receipts.findReceipt = rejectWith("not_found", "not_found");
    for (const path of [page, `${page}/pdf`, "/receipts/%zz"]) {
      const unknown = await get(path, english);
      expect([unknown.statusCode, unknown.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
      expect(unknown.body).toContain("<h1>Unknown receipt</h1>");
    }
    gateway.behaviour.receipts.findReceipt = rejectWith("service_unavailable", "unavailable");
    const unavailable = await get(page, english);
    expect([unavailable.statusCode, unavailable.headers["retry-after"]]).toEqual([503, "1"]);
    expect(unavailable.body).toContain("<h1>One moment, please</h1>");
  });

  test("the gateway serves the script of the receipt page's print button", async () => {
    const { body } = await get(page);
    const [, path = ""] = /<script type="module" src="([^"]+)">/.exec(body) ?? [];
    const script = await get(path);
    expect([script.statusCode, script.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
  });
});

describe("POST /receipts/{token}/email", () => {
  const post = (payload: string, type = "application/x-www-form-urlencoded", query = "") =>
    gateway.app.inject({ method: "POST", url: `${page}/email${query}`, headers: { "content-type": type }, payload });
  const postJson = (body: object) => post(JSON.stringify(body), "application/json");

  test("POST /receipts/{token}/email, sent by a form, queues an e-mail and shows a page with status 202", async () => {
    const response = await post("email=a%2Bb%40example.com", undefined, "?lang=ar");
    expect([response.statusCode, response.headers["content-type"]]).toEqual([202, "text/html; charset=utf-8"]);
    expect(response.body).toContain('<html lang="ar" dir="rtl">');
    expect(lastCall()).toMatchObject({
      rpc: "SendReceipt",
      request: { token: receiptToken, email: "a+b@example.com", language: "AR", businessName: "Librairie <El> Kitab" },
    });
  });

  test("POST /receipts/{token}/email with a JSON body queues an e-mail and returns 202", async () => {
    const response = await postJson({ email: "a@example.com", lang: "en" });
    expect([response.statusCode, response.json()]).toEqual([202, {}]);
    expect(lastCall()?.request).toMatchObject({ email: "a@example.com", language: "EN" });
  });

  test("POST /receipts/{token}/email shows the receipt page with the address and an error if a form contains an invalid address", async () => {
    gateway.behaviour.receipts.sendReceipt = rejectWith("validation_failed", "invalid");
    const response = await post(`email=${encodeURIComponent('"><script>x')}`);
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain('value="&quot;&gt;&lt;script&gt;x" aria-invalid="true"');
  });

  test("POST /receipts/{token}/email returns a problem document for an invalid address in JSON", async () => {
    gateway.behaviour.receipts.sendReceipt = rejectWith("validation_failed", "invalid");
    const response = await postJson({ email: "x" });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([422, "application/problem+json"]);
    expect(response.json()).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/email" }] });
    expect((await post("{", "application/json")).json()).toMatchObject({ code: "invalid_json", status: 400 });
  });

  test.each([
    ["receipt_email_limit_reached", "Le reçu n’a pas été envoyé"],
    ["receipt_email_not_available", "Demande non reconnue"],
  ])(
    "POST /receipts/{token}/email, for the refusal %s, returns a 409 page to a form and a 409 problem document to a JSON request",
    async (code, title) => {
      gateway.behaviour.receipts.sendReceipt = rejectWith(code);
      const response = await post("email=a%40example.com");
      expect(response.statusCode).toBe(409);
      expect(response.body).toContain(`<h1>${title}</h1>`);
      expect((await postJson({ email: "a@example.com" })).json()).toMatchObject({ code, status: 409 });
    },
  );

  test("POST /receipts/{token}/email rejects a body of more than 8 KiB and calls no service", async () => {
    const response = await post(`email=${"a".repeat(9_000)}`);
    expect(response.statusCode).toBe(413);
    expect(gateway.received).toEqual([]);
  });

  test.each(["", "email=a&email=b", "other=1"])(
    "POST /receipts/{token}/email with the form %j sends a missing address as empty text and repeated addresses as one text",
    async (payload) => {
      await post(payload);
      expect(lastCall()?.request).toMatchObject({ email: payload.startsWith("email") ? "a,b" : "" });
    },
  );
});

test("GET /receipts/{token} counts towards the rate limit of requests without a key", async () => {
  await using limited = await startTestGateway({ limits: { keylessPerSecond: 1 }, nowMs: () => 0 });
  const getLimited = () => limited.app.inject({ method: "GET", url: page, headers: { "accept-language": "en" } });
  const responses = [];
  for (let request = 0; request < 50; request++) responses.push(await getLimited());
  const rejected = responses.filter(({ statusCode }) => statusCode === 429);
  expect(rejected.length).toBeGreaterThan(40);
  expect(rejected[0]?.body).toContain("<h1>One moment, please</h1>");
  expect(Number(rejected[0]?.headers["retry-after"])).toBeGreaterThan(0);
});
