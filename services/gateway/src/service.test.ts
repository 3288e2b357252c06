import { Writable } from "node:stream";
import { generateApiKey, prefixOf } from "@amana/api-keys";
import { KeyLeaseService, KeyRole, KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { DomainError, type Implementations, serve } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { startTestServer, type TestService, testSecret } from "@amana/testing";
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
  const live = { state: KeyState.LIVE, role: KeyRole.BUSINESS, keyId: "k", keyPrefix: prefixOf(key), businessId: "b1" };
  identity = await startTestServer([
    serve(KeyLeaseService, {
      resolveKeys: async ({ keyHashes }) => {
        lookUps++;
        return { resolutions: keyHashes.map(() => live), leaseMs: 60_000 };
      },
    }),
  ]);
  const unused = async () => {
    throw new DomainError("unavailable", "service_unavailable", "Not in this test.");
  };
  payments = await startTestServer([
    serve(PaymentService, {
      createPayment: unused,
      listPayments: unused,
      refundPayment: unused,
      returnFromProcessor: unused,
      getPayment: (request, call) => getPayment(request, call),
    }),
  ]);
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
      RPC_SECRET: Buffer.from(testSecret).toString("base64"),
      ...settings,
    }),
    logger,
  );
const read = (url: string) => fetch(`${url}/api/v1/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });

describe("stopping", () => {
  test("finishes what is under way, even what came in while readiness was off, and then nobody listens", async () => {
    const gateway = await start({ STOP_DELAY_MS: "300" });
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    getPayment = async () => {
      begun.resolve();
      await release.promise;
      return payment;
    };
    const early = read(gateway.url);
    await begun.promise;
    const stopped = gateway[Symbol.asyncDispose]();
    const readiness = await fetch(`${gateway.url}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: "unavailable", missing: ["gateway"] }]);
    const late = read(gateway.url);
    release.resolve();
    expect((await early).status).toBe(200);
    expect((await late).status).toBe(200);
    await stopped;
    await expect(read(gateway.url)).rejects.toThrow();
  });
});

describe("readiness", () => {
  test("names the services that cannot be reached", async () => {
    const gone = await startTestServer([]);
    await gone[Symbol.asyncDispose]();
    await using gateway = await start({ PAYMENTS_URLS: gone.url });
    const answer = await fetch(`${gateway.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { status: "unavailable", missing: ["payments"] }]);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const refused = await read(gateway.url);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "service_unavailable"]);
  });
});

describe("a key that calls often", () => {
  test("is looked up once while its lease lasts", async () => {
    await using gateway = await start();
    for (let i = 0; i < 20; i++) expect((await read(gateway.url)).status).toBe(200);
    expect(lookUps).toBe(1);
  });
});

describe("the log", () => {
  test("has one line for each request, with whose it was and never the key", async () => {
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
        throw new Error("broken");
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
    expect(parsed.filter(({ msg }) => msg === "a request failed")).toHaveLength(1);
    expect(lines.join("")).not.toContain(key);
    expect(lines.join("")).not.toContain("secret-token");
  });
});

describe("settings", () => {
  test("that are missing are all named", () => {
    expect(() => readConfig({})).toThrow(/IDENTITY_URLS.*PAYMENTS_URLS.*WEBHOOKS_URLS.*RPC_SECRET/s);
    expect(() => readConfig({ IDENTITY_URLS: "nowhere" })).toThrow(/IDENTITY_URLS must list http addresses/);
  });
});
