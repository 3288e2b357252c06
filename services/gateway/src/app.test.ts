import { hash } from "node:crypto";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { DomainError, type IdempotencyKey, isSameRequest } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";
import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  gateway.behaviour.payments.refundPayment = async () => aPayment;
  gateway.behaviour.payments.createPayment = async () => aPayment;
  gateway.behaviour.payments.getPayment = async () => aPayment;
});

const id = "019a0000-0000-7000-8000-000000000001";
const aPayment = { id, currency: "DZD", status: PaymentStatus.PAID };
const body = { amount: "5000.00", success_url: "https://shop.example/paid", fail_url: "https://shop.example/failed" };
const json = { "content-type": "application/json" };

const inject = (options: InjectOptions) => gateway.app.inject(options);
const refund = (headers: Record<string, string>, payload?: string) =>
  inject({ method: "POST", url: `/api/v1/payments/${id}/refund`, headers, ...(payload === undefined ? {} : { payload }) });

describe("order of checks", () => {
  const tooLarge = { ...json, "content-length": String(1024 * 1024 + 1) };

  test("the gateway returns 404 for an unknown path before any other check", async () => {
    for (const url of [
      "/api",
      "/api/v1",
      "/api/v1/",
      "/api/v2/me",
      "/api/v1/payment",
      "/api/v1/me/",
      "/API/v1/me",
      "/api//v1/me",
    ]) {
      const response = await inject({ method: "POST", url, headers: tooLarge, payload: "{" });
      expect([url, response.statusCode, response.json().code]).toEqual([url, 404, "not_found"]);
    }
  });

  test("the gateway returns 404 for a path with an invalid percent escape", async () => {
    const response = await inject({ method: "GET", url: "/api/v1/payments/%zz" });
    expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
    expect(response.headers["x-request-id"]).toBe(response.json().request_id);
  });

  test.each([
    ["DELETE", "/api/v1/payments", "GET, HEAD, POST"],
    ["OPTIONS", "/api/v1/payments", "GET, HEAD, POST"],
    ["PUT", `/api/v1/payments/${id}`, "GET, HEAD"],
    ["GET", `/api/v1/payments/${id}/refund`, "POST"],
    ["PROPFIND", "/api/v1/me", "GET, HEAD, PATCH"],
    ["DELETE", `/api/v1/businesses/${id}`, "GET, HEAD, PATCH"],
    ["PATCH", "/api/v1/payments/return/abc", "GET, POST"],
    ["HEAD", "/api/v1/payments/return/abc", "GET, POST"],
    ["POST", "/healthz", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["DELETE", "/api/v1/clients/person", "POST"],
  ])("the gateway returns 405 for %s %s before it checks the body size and the key", async (method, url, allow) => {
    const response = await inject({ method: method as "GET", url, headers: tooLarge });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, allow]);
    if (method !== "HEAD") expect(response.json().code).toBe("method_not_allowed");
  });

  test("the gateway returns 413 for a body that is too large before it checks the key", async () => {
    const response = await refund(tooLarge, "{");
    expect([response.statusCode, response.json().code]).toEqual([413, "body_too_large"]);
  });

  test("the gateway returns 401 for a request without a key before it checks the body", async () => {
    const response = await refund({ "content-type": "text/plain" }, "{");
    expect([response.statusCode, response.json().code]).toEqual([401, "missing_api_key"]);
    expect(response.headers["www-authenticate"]).toBe("Bearer");
  });

  test("the gateway returns 403 for a key of the wrong role before it checks the body", async () => {
    const asAdmin = await refund({ ...gateway.admin.headers, "content-type": "text/plain" }, "{");
    expect([asAdmin.statusCode, asAdmin.json().code]).toEqual([403, "business_key_required"]);
    const asBusiness = await inject({
      method: "POST",
      url: "/api/v1/businesses",
      headers: { ...gateway.business.headers, "content-type": "text/plain" },
      payload: "{",
    });
    expect([asBusiness.statusCode, asBusiness.json().code]).toEqual([403, "admin_required"]);
  });

  test("the gateway checks the content type of a body first, then the JSON syntax, then the fields", async () => {
    const headers = { ...gateway.business.headers, "idempotency-key": "not good" };
    expect((await refund({ ...headers, "content-type": "text/plain" }, "{")).statusCode).toBe(415);
    expect((await refund({ ...headers, ...json }, "{")).json().code).toBe("invalid_json");
    expect((await refund({ ...headers, ...json }, '{"amount":1}')).json().code).toBe("validation_failed");
  });

  test("the gateway returns 400 for an invalid Idempotency-Key only after all other checks have passed, and calls no service", async () => {
    const response = await refund({ ...gateway.business.headers, "idempotency-key": "not good" });
    expect([response.statusCode, response.json().code]).toEqual([400, "invalid_idempotency_key"]);
    expect(gateway.received).toEqual([]);
  });
});

describe("request body", () => {
  const create = (headers: Record<string, string>, payload: string | Buffer) =>
    inject({ method: "POST", url: "/api/v1/payments", headers: { ...gateway.business.headers, ...headers }, payload });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "Application/JSON",
  ])("the gateway accepts a body with the content type %s", async (type) => {
    expect((await create({ "content-type": type }, JSON.stringify(body))).statusCode).toBe(201);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-16",
    "application/jsonx",
    "application/merge-patch+json",
    "text/json",
    "json",
    "",
  ])("the gateway returns 415 for a body with the content type %j", async (type) => {
    const response = await create({ "content-type": type }, JSON.stringify(body));
    expect([response.statusCode, response.json().code]).toEqual([415, "unsupported_media_type"]);
  });

  test.each(["gzip", "br", "deflate", "gzip, identity"])(
    "the gateway returns 415 for a body with the content encoding %s",
    async (encoding) => {
      const response = await create({ ...json, "content-encoding": encoding }, JSON.stringify(body));
      expect([response.statusCode, response.json().code]).toEqual([415, "unsupported_media_type"]);
    },
  );

  test("the gateway accepts a body of one megabyte, and returns 413 for a larger body", async () => {
    const text = JSON.stringify(body);
    const padded = (length: number) => text + " ".repeat(length - text.length);
    expect((await create(json, padded(1024 * 1024))).statusCode).toBe(201);
    const response = await create(json, padded(1024 * 1024 + 1));
    expect([response.statusCode, response.json().code]).toEqual([413, "body_too_large"]);
  });

  test("the gateway returns 400 for a request without a body when the route requires a body", async () => {
    for (const headers of [{}, json]) {
      const response = await inject({
        method: "POST",
        url: "/api/v1/payments",
        headers: { ...gateway.business.headers, ...headers },
      });
      expect([response.statusCode, response.json().code]).toEqual([400, "invalid_json"]);
    }
  });

  test.each([{}, json, { "content-type": "text/plain" }])(
    "the gateway accepts an empty chunked body with the headers %j on a route whose body is optional",
    async (type) => {
      const response = await refund({ ...gateway.business.headers, ...type, "transfer-encoding": "chunked" });
      expect(response.statusCode).toBe(200);
    },
  );

  test("the gateway returns 415 for each of 100 requests whose content type contains 15 000 spaces", async () => {
    const type = `application/json;charset=utf-8${" ".repeat(15_000)}x`;
    for (let i = 0; i < 100; i++) {
      expect((await create({ "content-type": type }, JSON.stringify(body))).statusCode).toBe(415);
    }
  });

  test("the gateway returns unknown_field for a field with the name `__proto__`, `constructor` or `hasOwnProperty`", async () => {
    for (const name of ["__proto__", "constructor", "hasOwnProperty"]) {
      const response = await create(json, `{"${name}":{"amount":"1"},${JSON.stringify(body).slice(1)}`);
      expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}`, code: "unknown_field" }] });
    }
  });

  test("the gateway returns 422 with 100 errors for a body with 9 000 unknown fields", async () => {
    const response = await create(json, `{${Array.from({ length: 9_000 }, (_, i) => `"${i}":0`).join()}}`);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toHaveLength(100);
  });
});

describe("API keys", () => {
  const getPayment = (headers: Record<string, string>) => inject({ method: "GET", url: `/api/v1/payments/${id}`, headers });

  test("the gateway accepts an API key in X-API-Key, or in Authorization after the scheme Bearer in lower, upper or mixed case", async () => {
    const { key } = gateway.business;
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}` },
      { authorization: `BEARER  ${key}` },
      { "x-api-key": key },
      { "x-api-key": key, authorization: `Bearer ${key}` },
    ] as Record<string, string>[]) {
      expect((await getPayment(headers)).statusCode).toBe(200);
    }
  });

  test.each(["", "Token ", "Basic "])(
    "the gateway returns 401 for an API key in Authorization with %j instead of the scheme Bearer",
    async (scheme) => {
      const response = await getPayment({ authorization: `${scheme}${gateway.business.key}` });
      expect([response.statusCode, response.json().code]).toEqual([401, "invalid_api_key"]);
      expect(response.json().detail).toContain("Bearer");
    },
  );

  test("the gateway returns 401 for different API keys in Authorization and X-API-Key", async () => {
    const otherKey = gateway.aKey();
    for (const authorization of [`Bearer ${otherKey.key}`, `Basic ${otherKey.key}`, "Bearer"]) {
      const response = await getPayment({ "x-api-key": gateway.business.key, authorization });
      expect([response.statusCode, response.json().code]).toEqual([401, "invalid_api_key"]);
    }
  });

  test.each([
    [{}, "missing_api_key"],
    [{ authorization: "Bearer" }, "missing_api_key"],
    [{ authorization: "Bearer " }, "missing_api_key"],
    [{ "x-api-key": "" }, "missing_api_key"],
    [{ authorization: "Basic dXNlcjpwYXNz" }, "invalid_api_key"],
    [{ authorization: "Bearer sk_test_short" }, "invalid_api_key"],
    [{ "x-api-key": "a, b" }, "invalid_api_key"],
  ] as [Record<string, string>, string][])(
    "the gateway, for a request with the headers %j, returns 401 with the code %s and does not call identity",
    async (headers, code) => {
      const { resolveKeys } = gateway.behaviour.keyLeases;
      let isCalled = false;
      gateway.behaviour.keyLeases.resolveKeys = async () => {
        isCalled = true;
        return {};
      };
      const response = await getPayment(headers);
      gateway.behaviour.keyLeases.resolveKeys = resolveKeys as NonNullable<typeof resolveKeys>;
      expect([response.statusCode, response.json().code, response.headers["www-authenticate"]]).toEqual([401, code, "Bearer"]);
      expect(isCalled).toBe(false);
    },
  );

  test("the gateway returns invalid_api_key for a key with a wrong, additional or missing character", async () => {
    const { key } = gateway.business;
    for (const wrongKey of [key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"), `${key}0`, key.slice(0, -1), key.toUpperCase()]) {
      expect((await getPayment({ "x-api-key": wrongKey })).json().code).toBe("invalid_api_key");
    }
  });

  test.each([
    ["UNKNOWN", "invalid_api_key"],
    ["REVOKED", "api_key_revoked"],
    ["EXPIRED", "api_key_expired"],
    ["BUSINESS_PENDING", "business_pending"],
    ["BUSINESS_REJECTED", "business_rejected"],
    ["BUSINESS_DISABLED", "business_disabled"],
  ] as const)("the gateway, for an API key in the state %s, returns 401 with the code %s", async (state, code) => {
    const response = await getPayment(gateway.aKey({ state: KeyState[state] }).headers);
    expect([response.statusCode, response.json().code, response.headers["www-authenticate"]]).toEqual([401, code, "Bearer"]);
  });

  test("the gateway returns 503 for an API key while identity fails or returns an incomplete response", async () => {
    const { resolveKeys } = gateway.behaviour.keyLeases;
    for (const fault of [
      () => new DomainError("unavailable", "service_unavailable", "The service is unavailable."),
      () => new ConnectError("deadline exceeded", Code.DeadlineExceeded),
      () => new Error("simulated failure"),
    ]) {
      gateway.behaviour.keyLeases.resolveKeys = async () => {
        throw fault();
      };
      const response = await getPayment(gateway.business.headers);
      expect([response.statusCode, response.json().code, response.headers["retry-after"]]).toEqual([
        503,
        "service_unavailable",
        "1",
      ]);
    }
    gateway.behaviour.keyLeases.resolveKeys = async () => ({ resolutions: [], leaseMs: 500 });
    expect((await getPayment(gateway.business.headers)).statusCode).toBe(503);
    gateway.behaviour.keyLeases.resolveKeys = async () => ({ resolutions: [{ state: KeyState.LIVE }], leaseMs: 500 });
    expect((await getPayment(gateway.business.headers)).statusCode).toBe(503);
    gateway.behaviour.keyLeases.resolveKeys = resolveKeys as NonNullable<typeof resolveKeys>;
  });

  test("the gateway calls the service as the business that owns the request's key, for each of two concurrent requests", async () => {
    const otherKeys = [gateway.aKey(), gateway.aKey()];
    await Promise.all(otherKeys.map(({ headers }) => getPayment(headers)));
    expect(gateway.received.map(({ call }) => "businessId" in call.caller && call.caller.businessId).sort()).toEqual(
      otherKeys.map(({ businessId }) => businessId).sort(),
    );
  });
});

describe("response", () => {
  test("the gateway's response contains the caller's request id if this id has the permitted form, and a new id otherwise", async () => {
    const get = (requestId: string) => inject({ method: "GET", url: "/healthz", headers: { "x-request-id": requestId } });
    for (const validId of ["abcdefgh", "A-b_0123456789", "a".repeat(64)]) {
      expect((await get(validId)).headers["x-request-id"]).toBe(validId);
    }
    for (const bad of ["short", "a".repeat(65), "with space here", "newline", "<script>alert", "é".repeat(10)]) {
      expect((await get(bad)).headers["x-request-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }
  });

  test("the gateway's response to a rejected request is a problem document that contains the caller's request id", async () => {
    const response = await refund({ "x-request-id": "request-0001" });
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(response.json()).toEqual({
      type: "/problems/missing_api_key",
      title: "API key is missing",
      status: 401,
      detail: expect.any(String),
      instance: "urn:amana:request:request-0001",
      code: "missing_api_key",
      request_id: "request-0001",
    });
  });

  test("the gateway's response to an internal error contains the request id and no details of the error", async () => {
    gateway.behaviour.payments.getPayment = async () => {
      throw new Error("password=hunter2");
    };
    const response = await inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: gateway.business.headers });
    expect(response.statusCode).toBe(500);
    expect(response.json().code).toBe("internal_error");
    expect(response.body).not.toMatch(/hunter2|Error|\.ts/);
    expect(response.json().detail).toContain(response.headers["x-request-id"]);
  });

  test("the gateway returns 504 when the call to the service times out", async () => {
    gateway.behaviour.payments.getPayment = async () => {
      throw new ConnectError("deadline exceeded", Code.DeadlineExceeded);
    };
    const response = await inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: gateway.business.headers });
    expect([response.statusCode, response.json().code]).toEqual([504, "upstream_timeout"]);
  });

  test("the gateway sends the caller's trace id to a service, with a new span id and the gateway's own trace flags", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const send = (traceparent: string) =>
      inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: { ...gateway.business.headers, traceparent } });
    await send(`00-${trace}-00f067aa0ba902b7-01`);
    await send("00-nonsense");
    const [first, second] = gateway.received.map(({ call }) => call.traceparent);
    expect(first).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
    expect(first).not.toContain("00f067aa0ba902b7");
    expect(second).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});

describe("Idempotency-Key", () => {
  const key = "0b6d3b1e-key";
  const send = (url: string, payload: string, headers: Record<string, string> = {}) =>
    inject({
      method: "POST",
      url: `/api/v1${url}`,
      headers: { ...gateway.business.headers, ...json, "idempotency-key": key, ...headers },
      payload,
    });

  test("the gateway forwards an Idempotency-Key to the service with the request's route and a fingerprint of the path and body", async () => {
    await send("/payments", JSON.stringify(body));
    await send("/payments?", JSON.stringify(body));
    await send("/payments", `${JSON.stringify(body)} `);
    await send(`/payments/${id}/refund`, "{}");
    await send(`/payments/${id.replace(/1$/, "2")}/refund`, "{}");
    const keys = gateway.received.map(({ call }) => call.idempotencyKey);
    expect(keys.map((idempotencyKey) => idempotencyKey?.route)).toEqual([
      ...Array(3).fill("POST /api/v1/payments"),
      ...Array(2).fill("POST /api/v1/payments/{id}/refund"),
    ]);
    expect(keys.every((idempotencyKey) => idempotencyKey?.key === key)).toBe(true);
    const [first, sameWithQuery, otherBytes, refundOne, refundTwo] = keys.map((idempotencyKey) => idempotencyKey?.fingerprint);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    // A plain hash would let a person who has the fingerprint test guesses of the body.
    expect(first).not.toBe(hash("sha256", `/api/v1/payments\n${JSON.stringify(body)}`));
    expect(sameWithQuery).toBe(first);
    expect(new Set([first, otherBytes, refundOne, refundTwo]).size).toBe(4);
  });

  test("the request fingerprints of two gateway replicas match if the replicas' FINGERPRINT_KEYS differ by one rotation step", async () => {
    const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const keyAt = async (fingerprintKeys: Buffer[]): Promise<IdempotencyKey> => {
      await using replica = await startTestGateway({ fingerprintKeys });
      const headers = { ...replica.business.headers, ...json, "idempotency-key": key };
      await replica.app.inject({ method: "POST", url: "/api/v1/payments", headers, payload: JSON.stringify(body) });
      return replica.received[0]?.call.idempotencyKey as IdempotencyKey;
    };
    const replicaKeys = await Promise.all([[old], [old, fresh], [fresh, old], [fresh]].map(keyAt));
    for (const [i, replicaKey] of replicaKeys.entries()) {
      for (const neighbourKey of replicaKeys.slice(Math.max(0, i - 1), i + 2))
        expect(isSameRequest(replicaKey, neighbourKey.fingerprint)).toBe(true);
    }
    expect(isSameRequest(replicaKeys[3] as IdempotencyKey, replicaKeys[0]?.fingerprint ?? "")).toBe(false);
  });

  test("the gateway accepts a request without an Idempotency-Key", async () => {
    await refund(gateway.business.headers);
    expect(gateway.received[0]?.call.idempotencyKey).toBeUndefined();
  });

  test("the gateway, for a repeated Idempotency-Key, returns the creation's stored response with status 201 and the header Idempotent-Replayed", async () => {
    gateway.behaviour.payments.createPayment = async (_request, call) => {
      call.markReplayed();
      return aPayment;
    };
    const response = await send("/payments", JSON.stringify(body));
    expect([response.statusCode, response.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    expect(response.headers["location"]).toBe(`/api/v1/payments/${id}`);
  });

  test("the gateway, for a repeated Idempotency-Key, returns the stored refusal with the header Idempotent-Replayed", async () => {
    gateway.behaviour.payments.refundPayment = async (_request, call) => {
      call.markReplayed();
      throw new DomainError("refused_upstream", "refund_refused", "The processor rejected the refund.");
    };
    const response = await send(`/payments/${id}/refund`, "{}");
    expect([response.statusCode, response.json().code, response.headers["idempotent-replayed"]]).toEqual([
      422,
      "refund_refused",
      "true",
    ]);
  });

  test.each(["a".repeat(256), "with space", "é", "tab\tinside", ""])(
    "the gateway returns 400 for the Idempotency-Key %j",
    async (bad) => {
      const response = await send("/payments", JSON.stringify(body), { "idempotency-key": bad });
      expect([response.statusCode, response.json().code]).toEqual([400, "invalid_idempotency_key"]);
    },
  );
});
