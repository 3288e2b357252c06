import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { testRpcSettings } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";
import { readConfig } from "../config.ts";
import { createRateLimits } from "../rate-limit/rate-limits.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const clock = { ms: 0 };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    limits: { perSecond: 2, burst: 4, failedAuthPerMinute: 3, refundPerSecond: 1, creationPerSecond: 1, searchPerSecond: 1 },
    nowMs: () => clock.ms,
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  // Refills every bucket.
  clock.ms += 1e6;
  gateway.received.length = 0;
  const payment = { id, currency: "DZD", status: PaymentStatus.PAID };
  gateway.behaviour.payments.getPayment = async () => payment;
  gateway.behaviour.payments.refundPayment = async () => payment;
});

type Headers = Record<string, string>;
const read = (headers: Headers) => gateway.app.inject({ method: "GET", url: `/api/v1/payments/${id}`, headers });
const refund = (headers: Headers) => gateway.app.inject({ method: "POST", url: `/api/v1/payments/${id}/refund`, headers });
const rateOf = ({ statusCode, headers }: Awaited<ReturnType<typeof read>>) => [
  statusCode,
  ...["limit", "remaining", "reset"].map((name) => headers[`ratelimit-${name}`]),
  headers["retry-after"],
];

describe("a business", () => {
  test("the gateway accepts four consecutive requests of a business, returns 429 with Retry-After for the fifth, and accepts two more requests after one second", async () => {
    const { headers } = gateway.aKey();
    const responses = [];
    for (let i = 0; i < 5; i++) responses.push(await read(headers));
    expect(responses.map(rateOf)).toEqual([
      [200, "4", "3", "1", undefined],
      [200, "4", "2", "1", undefined],
      [200, "4", "1", "2", undefined],
      [200, "4", "0", "2", undefined],
      [429, "4", "0", "2", "1"],
    ]);
    expect(responses[4]?.headers["content-type"]).toBe("application/problem+json");
    expect(responses[4]?.json().code).toBe("rate_limited");
    expect(gateway.received).toHaveLength(4);
    clock.ms += 1_000;
    expect([(await read(headers)).statusCode, (await read(headers)).statusCode, (await read(headers)).statusCode]).toEqual([
      200, 200, 429,
    ]);
  });

  test("the gateway counts each 64 KiB of a response as an additional request of the business", async () => {
    const { headers } = gateway.aKey();
    const payment = { id, currency: "DZD", status: PaymentStatus.PAID, description: "d".repeat(3 * 64 * 1024) };
    gateway.behaviour.payments.getPayment = async () => payment;
    const read = async () => {
      const response = await gateway.app.inject({ url: `/api/v1/payments/${id}`, headers });
      return [response.statusCode, response.headers["ratelimit-remaining"]];
    };
    expect(await read()).toEqual([200, "3"]);
    expect(await read()).toEqual([429, "0"]);
    clock.ms += 500;
    // The request uses the last token. Its response takes the bucket to -3 tokens.
    expect(await read()).toEqual([200, "0"]);
    clock.ms += 1_500;
    expect(await read()).toEqual([429, "0"]);
    clock.ms += 500;
    expect(await read()).toEqual([200, "0"]);
  });

  test("the gateway counts each 16 KiB of a body as an additional request of the business", async () => {
    const { headers } = gateway.aKey();
    const send = (length: number) =>
      gateway.app.inject({
        method: "PATCH",
        url: `/api/v1/accounts/${id}`,
        headers: { ...headers, "content-type": "application/json" },
        payload: `{"unknown":0}`.padEnd(length),
      });
    const smallResponse = await send(16 * 1024 - 1);
    expect([smallResponse.statusCode, smallResponse.headers["ratelimit-remaining"]]).toEqual([422, "3"]);
    // Three tokens are left. The request uses one token, and its body uses ten tokens.
    expect((await send(160 * 1024)).statusCode).toBe(422);
    expect(rateOf(await read(headers))).toEqual([429, "4", "0", "6", "5"]);
    clock.ms += 4_000;
    expect((await read(headers)).statusCode).toBe(429);
    clock.ms += 1_000;
    expect((await read(headers)).statusCode).toBe(200);
    // The request uses the last token, and none is left for its body.
    expect((await send(160 * 1024)).statusCode).toBe(429);
  });

  describe.each([
    ["a body of valid JSON", "}", 422],
    ["a body with a syntax error at its end", "", 400],
  ])("%s", (body, end, status) => {
    const send = async (headers: Headers, values: number) => {
      const members = Array.from({ length: values - 1 }, (_, i) => `"${i.toString(36)}":0`);
      const payload = `{${members.join()}${end}`;
      const url = `/api/v1/accounts/${id}`;
      const json = { ...headers, "content-type": "application/json" };
      const response = await gateway.app.inject({ method: "PATCH", url, headers: json, payload });
      return [response.statusCode, response.headers["ratelimit-remaining"]];
    };

    test(`the gateway counts each 500 JSON values of ${body} as an additional request of the business`, async () => {
      const { headers } = gateway.aKey();
      expect(await send(headers, 499)).toEqual([status, "3"]);
      expect(await send(headers, 999)).toEqual([status, "2"]);
      // The values of the previous body used one token, and this request uses the last token.
      expect(await send(headers, 500)).toEqual([status, "0"]);
      expect(await send(headers, 1)).toEqual([429, "0"]);
    });

    test(`the gateway counts the JSON values of ${body} even if the request used the last token`, async () => {
      const { headers } = gateway.aKey();
      for (let i = 0; i < 3; i++) await read(headers);
      expect(await send(headers, 1_000)).toEqual([status, "0"]);
      clock.ms += 1_000;
      expect((await read(headers)).statusCode).toBe(429);
      clock.ms += 500;
      expect((await read(headers)).statusCode).toBe(200);
    });
  });

  test("the gateway applies one limit to all keys of a business, and a separate limit to each business", async () => {
    const key = gateway.aKey();
    const sameBusiness = gateway.aKey({ businessId: key.businessId });
    for (let i = 0; i < 4; i++) await read(key.headers);
    expect((await read(sameBusiness.headers)).statusCode).toBe(429);
    expect((await read(gateway.aKey().headers)).statusCode).toBe(200);
  });

  test("the gateway applies an additional limit to the refunds of a business", async () => {
    const { headers } = gateway.aKey();
    expect([await refund(headers), await refund(headers), await refund(headers)].map(rateOf)).toEqual([
      [200, "2", "1", "1", undefined],
      [200, "2", "0", "2", undefined],
      [429, "2", "0", "2", "1"],
    ]);
    expect((await read(headers)).statusCode).toBe(200);
  });

  test("the gateway applies an additional limit to a business's creations, and a separate additional limit to its searches", async () => {
    gateway.behaviour.payments.createPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PENDING });
    gateway.behaviour.payments.listPayments = async () => ({ payments: [] });
    const { headers } = gateway.aKey();
    const statusesOf = async (method: "GET" | "HEAD" | "POST", path: string, payload?: object) => {
      const statuses = [];
      for (let i = 0; i < 3; i++) {
        clock.ms += 400;
        const url = path.startsWith("/") ? path : `/api/v1/payments${path}`;
        statuses.push((await gateway.app.inject({ method, url, headers, ...(payload && { payload }) })).statusCode);
      }
      return statuses;
    };
    const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
    expect(await statusesOf("POST", "", order)).toEqual([201, 201, 429]);
    expect(await statusesOf("GET", "?created_from=2026-01-01T00:00:00Z")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", "?offset=5000")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    expect(await statusesOf("HEAD", "?offset=5000")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", "?status=PAID")).toEqual([200, 200, 200]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", `?status=PAID&payment_link_id=${id}`)).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    gateway.behaviour.clients.listClients = async () => ({ clients: [] });
    expect(await statusesOf("GET", "/api/v1/clients?kyc_status=VALIDATED")).toEqual([200, 200, 200]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", "/api/v1/clients?blocked=false")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", "/api/v1/clients?is_blacklisted=false")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    gateway.behaviour.beneficiaries.listBeneficiaries = async () => ({ beneficiaries: [] });
    expect(await statusesOf("GET", "/api/v1/beneficiaries?display=true")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    expect(await statusesOf("GET", "?customer_email=a@b.dz")).toEqual([200, 200, 429]);
    clock.ms += 1e6;
    gateway.behaviour.paymentLinks.listPaymentLinks = async () => ({ paymentLinks: [] });
    expect(await statusesOf("GET", "/api/v1/payment-links?status=ACTIVE")).toEqual([200, 200, 429]);
  });

  test("the gateway counts a request towards the limit of the business even if the gateway returns 403 because of the key's role or the caller's address", async () => {
    const key = gateway.aKey();
    const limitedKey = gateway.aKey({
      businessId: key.businessId,
      state: KeyState.LIVE_FROM_ALLOWED_IPS,
      allowedIps: ["192.0.2.0/24"],
    });
    const operatorRoute = () => gateway.app.inject({ url: `/api/v1/businesses/${id}`, headers: key.headers });
    const responses = [
      await operatorRoute(),
      await read(limitedKey.headers),
      await operatorRoute(),
      await read(limitedKey.headers),
    ];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403]);
    const rejected = [await operatorRoute(), await read(limitedKey.headers), await read(key.headers)];
    expect(rejected.map(({ statusCode }) => statusCode)).toEqual([429, 429, 429]);
    expect(rejected[0]?.headers["retry-after"]).toBe("1");
  });

  test("the gateway counts a request once towards the limit of the business, even if the gateway looks up the key again after the end of the body", async () => {
    const { headers } = gateway.aKey({ expiresInMs: 0n });
    const { resolveKeys } = gateway.behaviour.keyLeases;
    let lookUps = 0;
    gateway.behaviour.keyLeases.resolveKeys = async (request, call) => {
      lookUps++;
      return (await resolveKeys?.(request, call)) ?? {};
    };
    const url = `/api/v1/payments/${id}/refund`;
    const response = await gateway.app.inject({ method: "POST", url, headers, payload: {} });
    expect([response.statusCode, lookUps]).toEqual([200, 2]);
    expect((await read(headers)).headers["ratelimit-remaining"]).toBe("2");
    if (resolveKeys) gateway.behaviour.keyLeases.resolveKeys = resolveKeys;
  });

  test("the gateway returns 429 for a request beyond the limit of the business before the gateway checks the body", async () => {
    const { headers } = gateway.aKey();
    for (let i = 0; i < 4; i++) await read(headers);
    expect((await refund({ ...headers, "content-type": "text/plain" })).statusCode).toBe(429);
  });
});

test("the gateway does not limit requests of operators", async () => {
  gateway.behaviour.businesses.getBusiness = async () => ({ id, status: 1 });
  for (let i = 0; i < 10; i++) {
    const response = await gateway.app.inject({ url: `/api/v1/businesses/${id}`, headers: gateway.admin.headers });
    expect([response.statusCode, response.headers["ratelimit-limit"]]).toEqual([200, undefined]);
  }
});

describe("failed authentications from one network", () => {
  test("the gateway returns 429 for failed authentications beyond the limit of a network, and accepts a valid key from this network", async () => {
    const revokedKey = gateway.aKey({ state: KeyState.REVOKED });
    const { headers } = gateway.aKey();
    expect((await read({})).statusCode).toBe(401);
    expect((await read({ "x-api-key": "nonsense" })).statusCode).toBe(401);
    expect((await read(revokedKey.headers)).statusCode).toBe(401);
    for (const failingHeaders of [{}, { "x-api-key": "nonsense" }, revokedKey.headers]) {
      const response = await read(failingHeaders as Headers);
      expect(rateOf(response)).toEqual([429, "3", "0", "60", "20"]);
      expect(response.json().code).toBe("rate_limited");
    }
    expect((await read(headers)).statusCode).toBe(200);
    const fromSame64 = (address: string) =>
      gateway.app.inject({ url: `/api/v1/payments/${id}`, remoteAddress: `2001:db8::${address}` });
    for (const address of ["1", "2:3:4:5", "ffff:0:0:0"]) expect((await fromSame64(address)).statusCode).toBe(401);
    expect((await fromSame64("6")).statusCode).toBe(429);
    const otherNetworkResponse = await gateway.app.inject({ url: `/api/v1/payments/${id}`, remoteAddress: "203.0.113.7" });
    expect(otherNetworkResponse.statusCode).toBe(401);
    clock.ms += 20_000;
    expect([(await read({})).statusCode, (await read({})).statusCode]).toEqual([401, 429]);
  });

  test("the gateway does not count a request with a key of the wrong role as a failed authentication", async () => {
    for (let i = 0; i < 5; i++) expect((await read(gateway.admin.headers)).statusCode).toBe(403);
    expect((await read({})).statusCode).toBe(401);
  });
});

describe("rate limit settings", () => {
  const source = {
    IDENTITY_URLS: "http://a",
    KYC_URLS: "http://a",
    CLIENTS_URLS: "http://a",
    PAYMENTS_URLS: "http://a",
    WEBHOOKS_URLS: "http://a",
    ...testRpcSettings,
    FINGERPRINT_KEYS: `${"A".repeat(43)}=`,
    CHECKOUT_KEYS: `${"A".repeat(43)}=`,
    CARD_FORM_ORIGINS: "https://forms.test",
  };

  test("the gateway has a default for each rate limit setting", () => {
    expect(readConfig(source).rateLimits).toEqual({
      perSecond: 100,
      burst: 200,
      failedAuthPerMinute: 20,
      kycPerSecond: 10,
      refundPerSecond: 10,
      creationPerSecond: 50,
      searchPerSecond: 20,
      keylessPerSecond: 10,
      checkoutPerMinute: 10,
      checkoutLinkPerSecond: 50,
      keylessTotalPerSecond: 500,
    });
  });

  test("a rate limit setting of the gateway with the value 0 switches the limit off", () => {
    const { rateLimits } = readConfig({ ...source, RATE_LIMIT_PER_SECOND: "0", RATE_LIMIT_KYC_PER_SECOND: "0" });
    const limits = createRateLimits(rateLimits);
    expect([limits.business, limits.kyc]).toEqual([undefined, undefined]);
    expect([limits.failedAuth?.draw("a").limit, limits.refund?.draw("a").limit]).toEqual([20, 20]);
  });
});
