import http from "node:http";
import net from "node:net";
import { Writable } from "node:stream";
import { generateApiKey, prefixOf } from "@amana/api-keys";
import { KeyLeaseService, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { DomainError, type Implementations, serve } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { eventually, startTestServer, type TestService, testRpcSettings } from "@amana/testing";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { startGateway } from "./service.ts";

const key = generateApiKey("sk_test_");
const id = "019a0000-0000-7000-8000-000000000001";
const payment = { id, currency: "DZD", status: PaymentStatus.PENDING };
let identity: TestService;
let payments: TestService;
let lookUps = 0;
let getPayment: Implementations<typeof PaymentService>["getPayment"];

beforeAll(async () => {
  const liveKey = { state: KeyState.LIVE, role: KeyRole.BUSINESS, keyId: "k", keyPrefix: prefixOf(key), businessId: "b1" };
  identity = await startTestServer(
    [
      serve(KeyLeaseService, {
        resolveBusiness: async () => ({}),
        resolveKeys: async ({ keyHashes }) => {
          lookUps++;
          return { resolutions: keyHashes.map(() => liveKey), leaseMs: 60_000 };
        },
      }),
    ],
    "identity",
  );
  const rejectCall = async () => {
    throw new DomainError("unavailable", "service_unavailable", "The service is unavailable.");
  };
  payments = await startTestServer(
    [
      serve(PaymentService, {
        createPayment: rejectCall,
        listPayments: rejectCall,
        refreshPayment: rejectCall,
        refundPayment: rejectCall,
        returnFromProcessor: rejectCall,
        getPayment: (request, call) => getPayment(request, call),
      }),
    ],
    "payments",
  );
});
afterAll(async () => {
  await identity[Symbol.asyncDispose]();
  await payments[Symbol.asyncDispose]();
});
beforeEach(() => {
  lookUps = 0;
  getPayment = async () => payment;
});

const start = (settings: Record<string, string> = {}, logger = createLogger("test", "silent")) =>
  startGateway(
    readConfig({
      PORT: "0",
      IDENTITY_URLS: identity.url,
      KYC_URLS: identity.url,
      CLIENTS_URLS: identity.url,
      PAYMENTS_URLS: payments.url,
      WEBHOOKS_URLS: identity.url,
      ...testRpcSettings,
      FINGERPRINT_KEYS: Buffer.alloc(32, 1).toString("base64"),
      CHECKOUT_KEYS: Buffer.alloc(32, 2).toString("base64"),
      CARD_FORM_ORIGINS: "https://forms.test",
      ...settings,
    }),
    logger,
  );
const read = (url: string) => fetch(`${url}/api/v1/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });

/** Sends a GET and returns the status and the Connection header of the response. */
const get = (url: string, agent: http.Agent, path = "/healthz") =>
  new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    const request = http.get(`${url}${path}`, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume().once("end", () => resolve([response.statusCode, response.headers.connection]));
    });
    request.once("error", reject);
  });

describe("a stopping gateway", () => {
  test("a stopping gateway responds to all requests during its stop delay, and then stops listening", async () => {
    const gateway = await start({ STOP_DELAY_MS: "8000" });
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    getPayment = async () => {
      started.resolve();
      await release.promise;
      return payment;
    };
    const firstResponse = read(gateway.url);
    await started.promise;
    const stopping = gateway[Symbol.asyncDispose]();
    const readiness = await fetch(`${gateway.url}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: "unavailable", missing: ["gateway"] }]);
    const secondResponse = read(gateway.url);
    release.resolve();
    expect((await firstResponse).status).toBe(200);
    expect((await secondResponse).status).toBe(200);
    await stopping;
    await expect(read(gateway.url)).rejects.toThrow();
  });

  test.each(["GET /healthz HTTP/1.1\r\nHos", "POST /api/v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"])(
    "a stopping gateway does not wait for the rest of an incomplete request (%j)",
    async (requestStart) => {
      const gateway = await start();
      const socket = net.connect(Number(new URL(gateway.url).port), "127.0.0.1");
      await new Promise<void>((sent) => socket.write(requestStart, () => sent()));
      // When the request below has its response, the gateway has also received the bytes above.
      await fetch(`${gateway.url}/healthz`);
      await gateway[Symbol.asyncDispose]();
      socket.destroy();
    },
  );

  test("a stopping gateway responds to requests on persistent connections and then closes the connections", async () => {
    const gateway = await start({ STOP_DELAY_MS: "8000" });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    expect(await get(gateway.url, agent)).toEqual([200, "keep-alive"]);
    const stopping = gateway[Symbol.asyncDispose]();
    expect(await get(gateway.url, agent)).toEqual([200, "close"]);
    await stopping;
    agent.destroy();
  });

  test("a stopping gateway responds to the request in flight on a persistent connection, and then closes the connection", async () => {
    const gateway = await start();
    const agent = new http.Agent({ keepAlive: true });
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    getPayment = async () => {
      started.resolve();
      await release.promise;
      return payment;
    };
    const response = get(gateway.url, agent, `/api/v1/payments/${id}`);
    await started.promise;
    const stopping = gateway[Symbol.asyncDispose]();
    // When a new connection fails, the gateway no longer listens. Then only the connection of
    // `agent` is open.
    await eventually(() => expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow());
    release.resolve();
    expect(await response).toEqual([200, "close"]);
    await stopping;
    agent.destroy();
  });
});

describe("readiness", () => {
  test("/readyz of the gateway returns 503 with the names of the unreachable services", async () => {
    const stoppedServer = await startTestServer([]);
    await stoppedServer[Symbol.asyncDispose]();
    await using gateway = await start({ PAYMENTS_URLS: stoppedServer.url });
    // Repeats the request, because on a busy machine another service may respond too late.
    await eventually(async () => {
      const response = await fetch(`${gateway.url}/readyz`);
      expect([response.status, await response.json()]).toEqual([503, { status: "unavailable", missing: ["payments"] }]);
    });
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const rejected = await read(gateway.url);
    expect([rejected.status, ((await rejected.json()) as { code: string }).code]).toEqual([503, "service_unavailable"]);
  });
});

describe("a key with many requests", () => {
  test("the gateway looks a key up fewer than 10 times for 20 requests", async () => {
    await using gateway = await start();
    // Usually, there is one look-up. On a busy machine, the lease may end several times during the
    // 20 requests. In this case, the test sends the requests again.
    await eventually(async () => {
      lookUps = 0;
      for (let i = 0; i < 20; i++) expect((await read(gateway.url)).status).toBe(200);
      expect(lookUps).toBeLessThan(10);
    });
  });
});

describe("the log", () => {
  test("the gateway's log has one line for each request, with key prefix and business, and never contains the key", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    {
      await using gateway = await start({}, pino({ level: "trace" }, sink));
      await (await read(gateway.url)).text();
      getPayment = async () => {
        throw new Error("simulated failure");
      };
      await (await read(gateway.url)).text();
      await (await fetch(`${gateway.url}/api/v1/payments/return/secret-token`)).text();
    }
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.filter(({ msg }) => msg === "request")).toMatchObject([
      { method: "GET", route: "/api/v1/payments/:id", status: 200, key_prefix: prefixOf(key), business_id: "b1" },
      { status: 500, business_id: "b1" },
      { route: "/api/v1/payments/return/:token", status: 503 },
    ]);
    expect(parsed.filter(({ msg }) => msg === "request failed")).toHaveLength(1);
    expect(lines.join("")).not.toContain(key);
    expect(lines.join("")).not.toContain("secret-token");
  });
});

describe("settings", () => {
  test("a gateway with HOST=localhost listens on one address, because the limits of connections apply to one server", async () => {
    await using gateway = await start({ HOST: "localhost" });
    const { hostname, port } = new URL(gateway.url);
    expect(hostname).toBe("127.0.0.1");
    const connected = new Promise((resolve, reject) => net.connect(Number(port), "::1", () => resolve(true)).on("error", reject));
    await expect(connected).rejects.toThrow();
  });

  test.each([
    ["https://forms.test/pay", {}, /must list origins without a path or wildcard, not "https:\/\/forms.test\/pay"/],
    ["https://*.forms.test", {}, /must list origins without a path or wildcard/],
    ["https://forms.test;script-src", {}, /must list origins without a path or wildcard/],
    ["http://forms.test", { NODE_ENV: "production" }, /must list https origins in production, not "http:\/\/forms.test"/],
  ])("readConfig of the gateway rejects CARD_FORM_ORIGINS %s", (origins, settings, message) => {
    expect(() => readConfig({ CARD_FORM_ORIGINS: `https://a.test,${origins}`, ...settings })).toThrow(message);
  });

  test("readConfig of the gateway rejects a CARD_MARKS_DIR without the card marks", () => {
    expect(() => readConfig({ CARD_MARKS_DIR: import.meta.dirname })).toThrow(
      /CARD_MARKS_DIR must contain cib.svg and edahabia.svg/,
    );
  });

  test("readConfig of the gateway reports every missing setting and every invalid address", () => {
    expect(() => readConfig({})).toThrow(/IDENTITY_URLS.*PAYMENTS_URLS.*WEBHOOKS_URLS.*CALLER_PRIVATE_KEY/s);
    expect(() => readConfig({ IDENTITY_URLS: "nowhere" })).toThrow(/IDENTITY_URLS must list http or https addresses/);
    expect(() => readConfig({})).toThrow(/CHECKOUT_KEYS is not set.*CARD_FORM_ORIGINS is not set/s);
  });
});
