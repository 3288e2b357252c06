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

describe("what the verification provider calls back", () => {
  test.each([
    ["application/json", '{"b": 1,  "b":2, "n": 1.10}\n'],
    ["application/json; charset=latin1", Buffer.from([0xe9, 0x00, 0xff])],
    ["text/plain", "not JSON"],
    ["application/x-www-form-urlencoded", "a=b&a=%zz"],
  ])("goes on byte for byte with its signature, whatever its type is called: %s", async (type, body) => {
    const answer = await call(body, { "content-type": type, "x-provider-signature": "t=1,v1=ab" });
    expect([answer.statusCode, answer.body]).toEqual([204, ""]);
    const { request, call: made } = gateway.received[0] ?? {};
    expect(Buffer.from((request as { body: Uint8Array }).body)).toEqual(Buffer.from(body));
    expect(request).toMatchObject({ signature: "t=1,v1=ab" });
    expect(made?.caller).toMatchObject({ role: "platform" });
  });

  test("is 401 when the service finds it badly signed", async () => {
    result = ProviderCallbackResult.BAD_SIGNATURE;
    const answer = await call("{}");
    expect([answer.statusCode, answer.json().code]).toEqual([401, "invalid_signature"]);
    expect(gateway.received[0]?.request).toMatchObject({ signature: "" });
  });

  test("is 503 when the service cannot take it now, so that it comes again", async () => {
    gateway.behaviour.kycApplications.receiveProviderCallback = async () => {
      throw new DomainError("unavailable", "kyc_provider_unavailable", "Later.");
    };
    const answer = await call("{}");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
  });

  test("is 413 above 256 KiB, and 405 by another method", async () => {
    expect((await call(" ".repeat(256 * 1024 + 1))).statusCode).toBe(413);
    expect((await gateway.app.inject({ method: "GET", url: "/callbacks/kyc" })).statusCode).toBe(405);
    expect(gateway.received).toEqual([]);
  });
});
