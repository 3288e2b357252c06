import { ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { DomainError } from "@amana/rpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
let result: ProviderCallbackResult;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  result = ProviderCallbackResult.ACCEPTED;
  gateway.behaviour.kycApplications.receiveProviderCallback = async () => ({ result });
});

const call = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  gateway.app.inject({ method: "POST", url: "/callbacks/kyc", payload, headers });

describe("POST /callbacks/kyc", () => {
  test.each([
    ["application/json", '{"b": 1,  "b":2, "n": 1.10}\n'],
    ["application/json; charset=latin1", Buffer.from([0xe9, 0x00, 0xff])],
    ["text/plain", "not JSON"],
    ["application/x-www-form-urlencoded", "a=b&a=%zz"],
  ])("POST /callbacks/kyc with the content type %s forwards the signature and the body byte for byte", async (type, body) => {
    const response = await call(body, { "content-type": type, "x-provider-signature": "t=1,v1=ab" });
    expect([response.statusCode, response.body]).toEqual([204, ""]);
    const { request, call: rpcCall } = gateway.received[0] ?? {};
    expect(Buffer.from((request as { body: Uint8Array }).body)).toEqual(Buffer.from(body));
    expect(request).toMatchObject({ signature: "t=1,v1=ab" });
    expect(rpcCall?.caller).toMatchObject({ role: "platform" });
  });

  test("POST /callbacks/kyc returns 401 when kyc rejects the signature", async () => {
    result = ProviderCallbackResult.BAD_SIGNATURE;
    const response = await call("{}");
    expect([response.statusCode, response.json().code]).toEqual([401, "invalid_signature"]);
    expect(gateway.received[0]?.request).toMatchObject({ signature: "" });
  });

  test("POST /callbacks/kyc returns 503 when kyc is unavailable, so that the provider retries", async () => {
    gateway.behaviour.kycApplications.receiveProviderCallback = async () => {
      throw new DomainError("unavailable", "kyc_provider_unavailable", "The provider is unavailable.");
    };
    const response = await call("{}");
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "1"]);
  });

  test("POST /callbacks/kyc returns 413 for a body above 256 KiB, and GET /callbacks/kyc returns 405", async () => {
    expect((await call(" ".repeat(256 * 1024 + 1))).statusCode).toBe(413);
    expect((await gateway.app.inject({ method: "GET", url: "/callbacks/kyc" })).statusCode).toBe(405);
    expect(gateway.received).toEqual([]);
  });
});

describe("forged callbacks", () => {
  test("POST /callbacks/kyc returns 429 or 503 for many forged callbacks, but accepts callbacks from a network that sent a genuine callback earlier", async () => {
    const limits = { keylessPerSecond: 2, keylessTotalPerSecond: 4 };
    await using floodedGateway = await startTestGateway({ limits, nowMs: () => 0 });
    const callbackFrom = (remoteAddress: string, signature: string) => {
      const headers = { "x-provider-signature": signature };
      return floodedGateway.app.inject({ method: "POST", url: "/callbacks/kyc", payload: "{}", headers, remoteAddress });
    };
    const { ACCEPTED, BAD_SIGNATURE } = ProviderCallbackResult;
    floodedGateway.behaviour.kycApplications.receiveProviderCallback = async ({ signature }) => ({
      result: signature === "good" ? ACCEPTED : BAD_SIGNATURE,
    });
    expect((await callbackFrom("203.0.113.1", "good")).statusCode).toBe(204);

    const statuses = [];
    for (let i = 1; i <= 5; i++) statuses.push((await callbackFrom(`2001:db8::${i}`, "forged")).statusCode);
    expect(statuses).toEqual([401, 401, 401, 401, 429]);
    for (const network of [2, 3, 4]) await callbackFrom(`203.0.113.${network}`, "forged");
    const full = await callbackFrom("203.0.113.9", "forged");
    expect([full.statusCode, full.json().code, full.headers["retry-after"]]).toEqual([503, "overloaded", "1"]);
    for (let i = 0; i < 10; i++) expect((await callbackFrom("203.0.113.1", "good")).statusCode).toBe(204);
  });
});

describe("POST /callbacks/kyc/{vendor}", () => {
  const post = (vendor: string, payload: string, headers: Record<string, string>) =>
    gateway.app.inject({ method: "POST", url: `/callbacks/kyc/${vendor}`, payload, headers });

  test.each([
    ["didit", { "x-signature": "ab" }],
    ["sumsub", { "x-payload-digest": "ab", "x-payload-digest-alg": "HMAC_SHA256_HEX" }],
  ])(
    "POST /callbacks/kyc/{vendor} for the vendor %s forwards the vendor's name, the body and only the signature headers",
    async (vendor, headers) => {
      const response = await post(vendor, '{"a":1}', { ...headers, "x-signature-v2": "cd", cookie: "secret=1" });
      expect(response.statusCode).toBe(204);
      const request = gateway.received[0]?.request as { headers?: object } | undefined;
      expect(request).toMatchObject({ provider: vendor, signature: "" });
      expect({ ...request?.headers }).toEqual(headers);
    },
  );

  test("POST /callbacks/kyc/didit accepts a body of 2 MiB, and returns 413 for a larger body", async () => {
    expect((await post("didit", " ".repeat(2 * 1024 * 1024), {})).statusCode).toBe(204);
    expect((await post("didit", " ".repeat(2 * 1024 * 1024 + 1), {})).statusCode).toBe(413);
  });

  test("POST /callbacks/kyc/{vendor} returns 404 for a vendor without settings and for an unknown vendor", async () => {
    result = ProviderCallbackResult.UNKNOWN_PROVIDER;
    expect((await post("didit", "{}", {})).statusCode).toBe(404);
    expect((await post("veriff", "{}", {})).statusCode).toBe(404);
  });
});
