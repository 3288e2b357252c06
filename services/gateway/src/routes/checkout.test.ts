import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { CheckoutState, type StartCheckoutRequest } from "@amana/contracts/payments/v1/checkout_service_pb";
import { conflict, invalid, notFound, outcomeUnknown, refusedUpstream, unavailable, upstreamError } from "@amana/rpc";
import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  aLink,
  anOpenLink,
  aPaidPayment,
  aPayment,
  formToken,
  formUrl,
  linkToken,
  paymentToken,
  serveLink,
} from "../../test/checkout-samples.ts";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";
import { PaymentCookie } from "../checkout/payment-cookie.ts";

const key = Buffer.alloc(32, 3);
const path = `/pay/${linkToken}`;
const browserCookie = new PaymentCookie([key]).write(linkToken, paymentToken, { isSecure: true }).split(";", 1)[0] as string;

let gateway: TestGateway;
const start = async (options: Parameters<typeof startTestGateway>[0] = {}) => {
  gateway = await startTestGateway(options);
  serveLink(gateway);
};
beforeEach(() => start());
afterEach(() => gateway[Symbol.asyncDispose]());

const get = (url = path, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });
const post = (fields: Record<string, string> = {}, { headers = {}, address = "192.0.2.1", url = path } = {}) =>
  gateway.app.inject({
    method: "POST",
    url,
    remoteAddress: address,
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    payload: String(new URLSearchParams({ form_token: formToken, conditions: "1", ...fields })),
  });
const starts = () =>
  gateway.received.filter(({ rpc }) => rpc === "StartCheckout").map(({ request }) => request as StartCheckoutRequest);
const h1 = (body: string) => /<h1>(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/h1>/.exec(body)?.[1];

describe("GET /pay/{token}", () => {
  test("GET /pay/{token} shows seller, name and amount in the language of the link, and a new form token on each load", async () => {
    const [first, second] = [await get(), await get()];
    expect(first.statusCode).toBe(200);
    expect(first.body).toContain('<html lang="fr" dir="ltr">');
    expect(first.body).toContain("<bdi>Atelier Tafilalt</bdi>");
    expect(first.body.replace(/\s/g, " ")).toContain("12 500,00 DZD");
    const tokens = [first, second].map(({ body }) => /name="form_token" value="([\w-]{24})"/.exec(body)?.[1]);
    expect(new Set(tokens).size).toBe(2);
    expect(tokens).not.toContain(undefined);
  });

  test.each([
    ["ar", '<html lang="ar" dir="rtl">'],
    ["en", '<html lang="en" dir="ltr">'],
    ["xx", '<html lang="fr" dir="ltr">'],
  ])(
    "GET /pay/{token}?lang=%s shows the page in this language if the gateway supports the language, and otherwise in the link's language",
    async (lang, html) => {
      expect((await get(`${path}?lang=${lang}`)).body).toContain(html);
    },
  );

  test("GET /pay/{token} forbids frames, referrers, caching and resources of other origins, and permits form redirects only to configured origins", async () => {
    const { headers } = await get();
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self' https://forms.test; base-uri 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "content-language": "fr",
    });
    expect(headers["set-cookie"]).toBeUndefined();
  });

  test("GET /pay/{token} shows markup in texts of a business as plain text without hidden characters", async () => {
    const name = `<script>alert(1)</script>\u202e"onload=`;
    serveLink(gateway, aLink({ name, description: "\u202eمرحبا\u200b".repeat(64) }), {}, { name: "<b>Shop</b>\u2067" });
    const { body } = await get();
    expect(body).toContain("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&quot;onload=</bdi>");
    expect(body).toContain("<bdi>&lt;b&gt;Shop&lt;/b&gt;</bdi>");
    expect(body).not.toMatch(/[\u202e\u2067\u200b]/);
  });

  test.each([
    [
      "an unknown link",
      404,
      () => (gateway.behaviour.checkout.getCheckout = async () => Promise.reject(notFound("payment_link_not_found", "x"))),
    ],
    ["a link that is not ACTIVE", 410, () => serveLink(gateway, aLink(), { state: CheckoutState.UNAVAILABLE })],
    ["a disabled business", 410, () => serveLink(gateway, aLink(), {}, { status: BusinessStatus.DISABLED })],
    ["an unknown business", 410, () => serveLink(gateway, aLink(), {}, { status: BusinessStatus.UNSPECIFIED })],
    ["a full link", 409, () => serveLink(gateway, aLink(), { state: CheckoutState.FULL })],
    [
      "a service that does not respond",
      503,
      () => (gateway.behaviour.checkout.getCheckout = async () => Promise.reject(unavailable("service_unavailable", "x"))),
    ],
  ])("GET /pay/{token} sends a page without a form for %s", async (_name, status, arrange) => {
    arrange();
    const response = await get();
    expect(response.statusCode).toBe(status);
    expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(response.body).not.toContain("<form");
  });

  test("GET /pay/{token} sends the same 410 page for an unavailable link and for a disabled business", async () => {
    const bodies: string[] = [];
    serveLink(gateway, aLink(), { state: CheckoutState.UNAVAILABLE });
    bodies.push((await get()).body);
    serveLink(gateway, aLink(), {}, { status: BusinessStatus.DISABLED });
    bodies.push((await get()).body);
    expect(new Set(bodies).size).toBe(1);
  });

  test.each(["/pay/x", "/pay/%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00%00", "/pay/%ff", `/pay/${"a".repeat(65)}`])(
    "GET %s sends the page of an unknown link without a call to a service",
    async (url) => {
      const response = await get(url);
      expect([response.statusCode, h1(response.body)]).toEqual([404, "Lien de paiement inconnu"]);
      expect(gateway.received).toEqual([]);
    },
  );

  test("GET /pay/{token} offers to continue the browser's payment in progress, or to start a new payment", async () => {
    serveLink(gateway, aLink(), { payment: aPayment() });
    const { statusCode, body } = await get(path, { cookie: browserCookie });
    expect([statusCode, h1(body)]).toEqual([200, "Vous avez déjà un paiement en cours"]);
    expect(body).toContain(`href="${formUrl}"`);
    expect(body).toContain(`href="${path}?again=1&amp;lang=fr"`);
    expect(gateway.received[0]?.request).toMatchObject({ linkToken, paymentToken });
    const newPaymentPage = await get(`${path}?again=1&lang=fr`, { cookie: browserCookie });
    expect(newPaymentPage.body).toContain('name="begin_again"');
  });

  test("GET /pay/{token} ignores the payment in a cookie that the gateway did not sign", async () => {
    const forged = new PaymentCookie([Buffer.alloc(32, 9)]).write(linkToken, paymentToken, { isSecure: true });
    await get(path, { cookie: forged.split(";", 1)[0] as string });
    expect(gateway.received[0]?.request).not.toHaveProperty("paymentToken");
  });

  test("GET /pay/{token} offers to continue the browser's payment in progress when the link is full", async () => {
    serveLink(gateway, aLink(), { state: CheckoutState.FULL, payment: aPayment() });
    const { statusCode, body } = await get(`${path}?lang=en`, { cookie: browserCookie });
    expect(statusCode).toBe(409);
    expect(body).toContain(
      "The number of payments is limited, and another customer is making the last one. Try again in a few minutes.",
    );
    expect(body).toContain(`href="${formUrl}"`);
  });
});

describe("POST /pay/{token}", () => {
  test("POST /pay/{token} starts a payment, redirects to the card form, and sets a cookie for the link", async () => {
    const response = await post({ lang: "ar" });
    expect([response.statusCode, response.headers.location]).toEqual([303, formUrl]);
    expect(response.headers["set-cookie"]).toMatch(
      new RegExp(`^amana_checkout=${paymentToken}\\.[\\w-]{43}; Path=${path}; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$`),
    );
    expect(response.headers).toMatchObject({ "referrer-policy": "no-referrer", "cache-control": "no-store" });
    expect(starts()).toMatchObject([{ linkToken, formToken, language: "AR", conditionsVersion: "2026-11", beginAgain: false }]);
    expect(starts()[0]).not.toHaveProperty("paymentToken");
  });

  test("POST /pay/{token} sends the payments service the buyer's input, and the page token from the browser's cookie", async () => {
    serveLink(gateway, anOpenLink(), { payment: aPayment() });
    const fields = { amount: "2 000,50", name: "Amina", email: "amina@example.dz", phone: "0550123456", begin_again: "1" };
    expect((await post(fields, { headers: { cookie: browserCookie } })).statusCode).toBe(303);
    expect(starts()).toMatchObject([
      {
        amountMinor: 200_050n,
        customerName: "Amina",
        customerEmail: "amina@example.dz",
        customerPhone: "+213550123456",
        beginAgain: true,
        paymentToken,
      },
    ]);
  });

  test("POST /pay/{token} returns the form with the buyer's input and an error at each invalid field, and focuses the first of these fields", async () => {
    serveLink(gateway, anOpenLink());
    const { statusCode, body } = await post({ amount: "5", name: "<Amina>", email: "bad", lang: "en" });
    expect(statusCode).toBe(422);
    for (const value of ["5", "&lt;Amina&gt;", "bad"]) expect(body).toContain(`value="${value}"`);
    expect(body.match(/aria-invalid="true"/g)).toHaveLength(3);
    expect(body.match(/ autofocus/g)).toHaveLength(1);
    expect(body).toMatch(/<input id="amount"[^>]* autofocus>/);
    expect(body).toContain(`name="form_token" value="${formToken}"`);
    expect(body).toMatch(/name="conditions" [^>]*checked/);
    expect(starts()).toEqual([]);
  });

  test("POST /pay/{token} requires the acceptance of the conditions", async () => {
    const response = await gateway.app.inject({ method: "POST", url: path, payload: `form_token=${formToken}` });
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain("Cochez la case pour accepter les conditions.");
    expect(starts()).toEqual([]);
  });

  test.each(["", "form_token=x", "%", "{}"])(
    "POST /pay/{token} sends a 400 page for a form without a usable form token: %j",
    async (payload) => {
      const response = await gateway.app.inject({ method: "POST", url: path, payload });
      expect([response.statusCode, h1(response.body)]).toEqual([400, "Un instant, s’il vous plaît"]);
    },
  );

  test("POST /pay/{token} sends an error page for a form of more than 64 KiB", async () => {
    const response = await gateway.app.inject({ method: "POST", url: path, payload: "x".repeat(64 * 1024 + 1) });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([413, "text/html; charset=utf-8"]);
  });

  test("POST /pay/{token} offers to continue the browser's payment in progress if the form's amount differs from that payment's amount", async () => {
    serveLink(gateway, anOpenLink({ customerFields: {} }), { payment: aPayment() });
    const { body } = await post({ amount: "700", lang: "en" }, { headers: { cookie: browserCookie } });
    expect(h1(body)).toBe("You already have a payment in progress");
    expect(starts()).toEqual([]);
  });

  test("POST /pay/{token} redirects to the result page if the payment that this form started is already PAID", async () => {
    gateway.behaviour.checkout.startCheckout = async () => ({ payment: aPaidPayment(), paymentToken });
    expect((await post()).headers.location).toBe(`${path}/result/${paymentToken}`);
  });

  test.each([
    ["payment_link_full", conflict("payment_link_full", "x"), 409, "Un autre client est en train de payer"],
    ["payment_link_not_available", conflict("payment_link_not_available", "x"), 410, "Ce lien de paiement n’est plus disponible"],
    ["payment_link_not_found", notFound("payment_link_not_found", "x"), 404, "Lien de paiement inconnu"],
    ["processor_error", upstreamError("processor_error", "x"), 502, "Le paiement n’a pas pu commencer"],
    ["payment_refused", refusedUpstream("payment_refused", "x"), 422, "Le paiement n’a pas pu commencer"],
    ["processor_outcome_unknown", outcomeUnknown("processor_outcome_unknown", "x"), 504, "Le paiement n’a pas pu commencer"],
    ["service_unavailable", unavailable("service_unavailable", "x"), 503, "Le paiement n’a pas pu commencer"],
  ])("POST /pay/{token} sends the error page for the refusal %s, and sets no cookie", async (_code, error, status, title) => {
    gateway.behaviour.checkout.startCheckout = async () => Promise.reject(error);
    const response = await post();
    expect([response.statusCode, h1(response.body)]).toEqual([status, title]);
    expect(response.headers["set-cookie"]).toBeUndefined();
  });

  test("POST /pay/{token} marks the field whose value the payments service refuses", async () => {
    serveLink(gateway, anOpenLink());
    gateway.behaviour.checkout.startCheckout = async () =>
      Promise.reject(invalid("validation_failed", "x", { pointer: "/customer_phone" }));
    const { statusCode, body } = await post({ amount: "2000", name: "Amina", phone: "0550123456" });
    expect(statusCode).toBe(422);
    expect(body).toMatch(/<input id="phone"[^>]* aria-invalid="true" autofocus>/);
  });

  test("POST /pay/{token} starts no payment for an unavailable link or a link of a disabled business", async () => {
    serveLink(gateway, aLink(), { state: CheckoutState.UNAVAILABLE });
    expect((await post()).statusCode).toBe(410);
    serveLink(gateway, aLink(), {}, { status: BusinessStatus.DISABLED });
    expect((await post()).statusCode).toBe(410);
    expect(starts()).toEqual([]);
  });
});

describe("payment link with a proof of work", () => {
  const challengeOf = (body: string) =>
    JSON.parse(/ challenge="([^"]+)"/.exec(body)?.[1]?.replaceAll("&quot;", '"') ?? "null") as Parameters<
      typeof solveChallenge
    >[0]["challenge"];
  const tokenOf = (body: string) => /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? "";

  beforeEach(async () => {
    await gateway[Symbol.asyncDispose]();
    await start({ checkout: { hasCaptcha: true } });
  });

  test("POST /pay/{token} accepts the solution of the form's own proof of work repeatedly, and rejects a missing solution or another form's solution", async () => {
    const { body, headers } = await get();
    expect(headers["content-security-policy"]).toContain("worker-src 'self'");
    const challenge = challengeOf(body);
    const solution = await solveChallenge({ challenge, deriveKey });
    const altcha = Buffer.from(JSON.stringify({ challenge, solution })).toString("base64");
    expect((await post({ form_token: tokenOf(body) })).statusCode).toBe(422);
    expect((await post({ form_token: "another-form-token-01", altcha })).statusCode).toBe(422);
    expect(starts()).toEqual([]);
    for (const _ of [1, 2]) expect((await post({ form_token: tokenOf(body), altcha })).statusCode).toBe(303);
    expect(new Set(starts().map((request) => request.formToken))).toEqual(new Set([tokenOf(body)]));
  });

  test("POST /pay/{token} shows a new challenge for the same form after an error", async () => {
    const { body } = await post({ altcha: "x" });
    expect(body).toContain("La vérification de sécurité n’était pas terminée.");
    expect(challengeOf(body).parameters.data).toEqual({ form: formToken, link: linkToken });
  });

  test("GET /pay/{token} states for browsers without JavaScript that the proof of work requires JavaScript", async () => {
    expect((await get()).body).toMatch(/<noscript>.*JavaScript.*<\/noscript>/s);
  });
});

describe("rate limits of payment links", () => {
  beforeEach(async () => {
    await gateway[Symbol.asyncDispose]();
    await start({ limits: { checkoutPerMinute: 10, checkoutLinkPerSecond: 50 }, nowMs: () => 1_000 });
  });

  test("POST /pay/{token} accepts ten payment starts per minute from one network for one link, and returns 429 for the next", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) statuses.push((await post()).statusCode);
    expect(statuses).toEqual(Array(10).fill(303));
    const rejected = await post({ lang: "en" });
    expect([rejected.statusCode, rejected.headers["retry-after"], h1(rejected.body)]).toEqual([429, "6", "Too many requests"]);
    expect(rejected.body).toContain("Try again in 6 seconds.");
    expect((await post({}, { address: "192.0.2.2" })).statusCode).toBe(303);
    serveLink(gateway, aLink({ id: "01a1b2c3-0000-7000-8000-000000000002" }));
    expect((await post()).statusCode).toBe(303);
  });

  test("POST /pay/{token} applies its rate limit to all addresses of an IPv6 /64 together", async () => {
    for (let i = 0; i < 10; i++) await post({}, { address: `2001:db8::${i}` });
    expect((await post({}, { address: "2001:db8::ffff" })).statusCode).toBe(429);
  });

  test("POST /pay/{token} accepts a burst of a hundred payment starts for one link, and does not limit other links", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 101; i++) statuses.push((await post({}, { address: `198.51.100.${i}` })).statusCode);
    expect(statuses).toEqual([...Array(100).fill(303), 429]);
    serveLink(gateway, aLink({ id: "01a1b2c3-0000-7000-8000-000000000002" }));
    expect((await post({}, { address: "198.51.100.250" })).statusCode).toBe(303);
  });

  test("POST /pay/{token} does not count a form with errors towards its rate limit", async () => {
    serveLink(gateway, anOpenLink());
    for (let i = 0; i < 11; i++) expect((await post()).statusCode).toBe(422);
  });
});

describe("payment link whose calls get no response", () => {
  const otherToken = "otherLinkToken01234567";
  let blocked: PromiseWithResolvers<never>;
  beforeEach(() => {
    blocked = Promise.withResolvers();
    blocked.promise.catch(() => {});
  });
  // The gateway can stop only after its requests have ended.
  afterEach(() => blocked.reject(new Error("released")));

  test("GET /pay/{token} returns the page of a link while calls for another link get no response from the payments service", async () => {
    const { getCheckout } = gateway.behaviour.checkout;
    gateway.behaviour.checkout.getCheckout = (request, call) =>
      request.linkToken === linkToken
        ? blocked.promise
        : (getCheckout?.(request, call) as ReturnType<NonNullable<typeof getCheckout>>);
    for (let i = 0; i < 20; i++) void get().catch(() => {});
    expect((await get(`/pay/${otherToken}`)).statusCode).toBe(200);
  });

  test("POST /pay/{token} starts a payment while calls for another business's link get no response from the payments service", async () => {
    const otherLink = aLink({ id: "01a1b2c3-0000-7000-8000-000000000002", businessId: "01a1b2c3-0000-7000-8000-0000000000b2" });
    gateway.behaviour.checkout.getCheckout = async (request) => ({
      link: request.linkToken === linkToken ? aLink() : otherLink,
      state: CheckoutState.OPEN,
    });
    gateway.behaviour.checkout.startCheckout = async (request) =>
      request.linkToken === linkToken ? await blocked.promise : { payment: aPayment(), paymentToken };
    for (let i = 0; i < 70; i++) void post({ form_token: `${formToken}${i}` }, { address: `198.51.100.${i}` }).catch(() => {});
    const response = await post({}, { url: `/pay/${otherToken}` });
    expect(response.statusCode).toBe(303);
  });
});

test("GET /pay/{token} returns a page with status 429 for requests beyond the rate limit of a network", async () => {
  await gateway[Symbol.asyncDispose]();
  await start({ limits: { keylessPerSecond: 1 }, nowMs: () => 1_000 });
  expect([(await get()).statusCode, (await get()).statusCode]).toEqual([200, 200]);
  const rejected = await get(`${path}?lang=ar`);
  expect([rejected.statusCode, rejected.headers["retry-after"], h1(rejected.body)]).toEqual([429, "1", "طلبات كثيرة"]);
});

describe("GET /pay/{token}/qr.svg and /poster", () => {
  test("GET /pay/{token}/qr.svg sends the link's QR code, and GET /pay/{token}/poster sends a page for printing", async () => {
    const svg = await get(`${path}/qr.svg`);
    expect([svg.statusCode, svg.headers["content-type"]]).toEqual([200, "image/svg+xml"]);
    expect(svg.body).toMatch(/^<svg [^>]*viewBox="0 0 (\d+) \1"/);
    const poster = await get(`${path}/poster?lang=ar`);
    expect(poster.body).toContain(`src="${path}/qr.svg"`);
    expect(poster.body).toContain(`https://pay.test${path}`);
  });

  test.each(["/qr.svg", "/poster"])("GET /pay/{token}%s sends the 410 page for a link that is not available", async (end) => {
    serveLink(gateway, aLink(), { state: CheckoutState.UNAVAILABLE });
    expect((await get(`${path}${end}`)).statusCode).toBe(410);
  });
});

test("GET /pay/{token} shows the card marks in CARD_MARKS_DIR, or the words CIB and EDAHABIA if CARD_MARKS_DIR is not set", async () => {
  expect((await get()).body).toContain('<bdi class="card-mark">EDAHABIA</bdi>');
  expect((await get("/assets/cib.svg")).statusCode).toBe(404);
  await gateway[Symbol.asyncDispose]();
  await using stack = new AsyncDisposableStack();
  const cardMarksDir = await mkdtemp(join(tmpdir(), "amana-marks-"));
  stack.defer(() => rm(cardMarksDir, { recursive: true, force: true }));
  for (const name of ["cib.svg", "edahabia.svg"]) await writeFile(join(cardMarksDir, name), `<svg id="${name}"/>`);
  await start({ checkout: { cardMarksDir } });
  expect((await get()).body).toContain('<img src="/assets/edahabia.svg" alt="EDAHABIA" height="28">');
  const mark = await get("/assets/edahabia.svg");
  expect([mark.headers["content-type"], mark.body]).toEqual(["image/svg+xml", '<svg id="edahabia.svg"/>']);
});

test.each([
  "checkout.css",
  "checkout.js",
  "altcha.js",
  "altcha-fr.js",
  "altcha-ar.js",
  "altcha-en.js",
  "altcha-worker.js",
  "mark.svg",
])("GET /assets/%s returns the file with an ETag, and browsers must revalidate the file", async (name) => {
  const { statusCode, headers } = await get(`/assets/${name}`);
  expect([statusCode, headers["cache-control"]]).toEqual([200, "no-cache"]);
  expect((await get(`/assets/${name}`, { "if-none-match": String(headers.etag) })).statusCode).toBe(304);
});
