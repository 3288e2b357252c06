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

describe("refusals come in a fixed order", () => {
  const tooLarge = { ...json, "content-length": String(1024 * 1024 + 1) };

  test("an unknown address comes before everything", async () => {
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
      const answer = await inject({ method: "POST", url, headers: tooLarge, payload: "{" });
      expect([url, answer.statusCode, answer.json().code]).toEqual([url, 404, "not_found"]);
    }
  });

  test("a percent sign that means nothing is an unknown address", async () => {
    const answer = await inject({ method: "GET", url: "/api/v1/payments/%zz" });
    expect([answer.statusCode, answer.json().code]).toEqual([404, "not_found"]);
    expect(answer.headers["x-request-id"]).toBe(answer.json().request_id);
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
  ])("then the method: %s %s", async (method, url, allow) => {
    const answer = await inject({ method: method as "GET", url, headers: tooLarge });
    expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, allow]);
    if (method !== "HEAD") expect(answer.json().code).toBe("method_not_allowed");
  });

  test("then the size", async () => {
    const answer = await refund(tooLarge, "{");
    expect([answer.statusCode, answer.json().code]).toEqual([413, "body_too_large"]);
  });

  test("then the key", async () => {
    const answer = await refund({ "content-type": "text/plain" }, "{");
    expect([answer.statusCode, answer.json().code]).toEqual([401, "missing_api_key"]);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  test("then its role", async () => {
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

  test("then the type and the form of the body", async () => {
    const headers = { ...gateway.business.headers, "idempotency-key": "not good" };
    expect((await refund({ ...headers, "content-type": "text/plain" }, "{")).statusCode).toBe(415);
    expect((await refund({ ...headers, ...json }, "{")).json().code).toBe("invalid_json");
    expect((await refund({ ...headers, ...json }, '{"amount":1}')).json().code).toBe("validation_failed");
  });

  test("then the idempotency key, and only then the service is asked", async () => {
    const answer = await refund({ ...gateway.business.headers, "idempotency-key": "not good" });
    expect([answer.statusCode, answer.json().code]).toEqual([400, "invalid_idempotency_key"]);
    expect(gateway.received).toEqual([]);
  });
});

describe("a body", () => {
  const create = (headers: Record<string, string>, payload: string | Buffer) =>
    inject({ method: "POST", url: "/api/v1/payments", headers: { ...gateway.business.headers, ...headers }, payload });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
    "Application/JSON",
  ])("may be of the type %s", async (type) => {
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
  ])("of the type %j is refused", async (type) => {
    const answer = await create({ "content-type": type }, JSON.stringify(body));
    expect([answer.statusCode, answer.json().code]).toEqual([415, "unsupported_media_type"]);
  });

  test.each(["gzip", "br", "deflate", "gzip, identity"])("compressed by %s is refused", async (encoding) => {
    const answer = await create({ ...json, "content-encoding": encoding }, JSON.stringify(body));
    expect([answer.statusCode, answer.json().code]).toEqual([415, "unsupported_media_type"]);
  });

  test("may have a megabyte and not a byte more", async () => {
    const text = JSON.stringify(body);
    const padded = (length: number) => text + " ".repeat(length - text.length);
    expect((await create(json, padded(1024 * 1024))).statusCode).toBe(201);
    const answer = await create(json, padded(1024 * 1024 + 1));
    expect([answer.statusCode, answer.json().code]).toEqual([413, "body_too_large"]);
  });

  test("that is needed and absent is no JSON", async () => {
    for (const headers of [{}, json]) {
      const answer = await inject({
        method: "POST",
        url: "/api/v1/payments",
        headers: { ...gateway.business.headers, ...headers },
      });
      expect([answer.statusCode, answer.json().code]).toEqual([400, "invalid_json"]);
    }
  });

  test.each([{}, json, { "content-type": "text/plain" }])(
    "of no bytes is none, also when only its end tells (%j)",
    async (type) => {
      const answer = await refund({ ...gateway.business.headers, ...type, "transfer-encoding": "chunked" });
      expect(answer.statusCode).toBe(200);
    },
  );

  test("whose type is followed by kilobytes of white space holds nobody up", async () => {
    const type = `application/json;charset=utf-8${" ".repeat(15_000)}x`;
    for (let i = 0; i < 100; i++) {
      expect((await create({ "content-type": type }, JSON.stringify(body))).statusCode).toBe(415);
    }
  });

  test("with a field named __proto__ or constructor has an unknown field", async () => {
    for (const name of ["__proto__", "constructor", "hasOwnProperty"]) {
      const answer = await create(json, `{"${name}":{"amount":"1"},${JSON.stringify(body).slice(1)}`);
      expect(answer.json()).toMatchObject({ status: 422, errors: [{ pointer: `/${name}`, code: "unknown_field" }] });
    }
  });

  test("a body with 9 000 wrong fields is refused with 100 errors", async () => {
    const answer = await create(json, `{${Array.from({ length: 9_000 }, (_, i) => `"${i}":0`).join()}}`);
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors).toHaveLength(100);
  });
});

describe("keys", () => {
  const me = (headers: Record<string, string>) => inject({ method: "GET", url: `/api/v1/payments/${id}`, headers });

  test("come in either header, and the scheme in any case", async () => {
    const { key } = gateway.business;
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}` },
      { authorization: `BEARER  ${key}` },
      { "x-api-key": key },
      { "x-api-key": key, authorization: `Bearer ${key}` },
    ] as Record<string, string>[]) {
      expect((await me(headers)).statusCode).toBe(200);
    }
  });

  test.each(["", "Token ", "Basic "])("under Authorization need the scheme Bearer, not %j", async (scheme) => {
    const answer = await me({ authorization: `${scheme}${gateway.business.key}` });
    expect([answer.statusCode, answer.json().code]).toEqual([401, "invalid_api_key"]);
    expect(answer.json().detail).toContain("Bearer");
  });

  test("in both headers that differ are refused", async () => {
    const other = gateway.aKey();
    for (const authorization of [`Bearer ${other.key}`, `Basic ${other.key}`, "Bearer"]) {
      const answer = await me({ "x-api-key": gateway.business.key, authorization });
      expect([answer.statusCode, answer.json().code]).toEqual([401, "invalid_api_key"]);
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
  ] as [Record<string, string>, string][])("%j are refused as %s without asking identity", async (headers, code) => {
    const { resolveKeys } = gateway.behaviour.keyLeases;
    let asked = false;
    gateway.behaviour.keyLeases.resolveKeys = async () => {
      asked = true;
      return {};
    };
    const answer = await me(headers);
    gateway.behaviour.keyLeases.resolveKeys = resolveKeys as NonNullable<typeof resolveKeys>;
    expect([answer.statusCode, answer.json().code, answer.headers["www-authenticate"]]).toEqual([401, code, "Bearer"]);
    expect(asked).toBe(false);
  });

  test("with one wrong character are refused without asking identity", async () => {
    const { key } = gateway.business;
    for (const wrong of [key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"), `${key}0`, key.slice(0, -1), key.toUpperCase()]) {
      expect((await me({ "x-api-key": wrong })).json().code).toBe("invalid_api_key");
    }
  });

  test.each([
    [KeyState.UNKNOWN, "invalid_api_key"],
    [KeyState.REVOKED, "api_key_revoked"],
    [KeyState.EXPIRED, "api_key_expired"],
    [KeyState.BUSINESS_PENDING, "business_pending"],
    [KeyState.BUSINESS_REJECTED, "business_rejected"],
    [KeyState.BUSINESS_DISABLED, "business_disabled"],
  ])("in state %i are refused as %s", async (state, code) => {
    const answer = await me(gateway.aKey({ state }).headers);
    expect([answer.statusCode, answer.json().code, answer.headers["www-authenticate"]]).toEqual([401, code, "Bearer"]);
  });

  test("that identity cannot be asked about open nothing", async () => {
    const { resolveKeys } = gateway.behaviour.keyLeases;
    for (const fault of [
      () => new DomainError("unavailable", "service_unavailable", "Down."),
      () => new ConnectError("too late", Code.DeadlineExceeded),
      () => new Error("broken"),
    ]) {
      gateway.behaviour.keyLeases.resolveKeys = async () => {
        throw fault();
      };
      const answer = await me(gateway.business.headers);
      expect([answer.statusCode, answer.json().code, answer.headers["retry-after"]]).toEqual([503, "service_unavailable", "1"]);
    }
    gateway.behaviour.keyLeases.resolveKeys = async () => ({ resolutions: [], leaseMs: 500 });
    expect((await me(gateway.business.headers)).statusCode).toBe(503);
    gateway.behaviour.keyLeases.resolveKeys = async () => ({ resolutions: [{ state: KeyState.LIVE }], leaseMs: 500 });
    expect((await me(gateway.business.headers)).statusCode).toBe(503);
    gateway.behaviour.keyLeases.resolveKeys = resolveKeys as NonNullable<typeof resolveKeys>;
  });

  test("each bring their own business to the service, and nobody else's", async () => {
    const others = [gateway.aKey(), gateway.aKey()];
    await Promise.all(others.map(({ headers }) => me(headers)));
    expect(gateway.received.map(({ call }) => "businessId" in call.caller && call.caller.businessId).sort()).toEqual(
      others.map(({ businessId }) => businessId).sort(),
    );
  });
});

describe("every answer", () => {
  test("has a request id of its own, or the caller's when it is harmless", async () => {
    const ask = (given: string) => inject({ method: "GET", url: "/healthz", headers: { "x-request-id": given } });
    for (const good of ["abcdefgh", "A-b_0123456789", "a".repeat(64)]) {
      expect((await ask(good)).headers["x-request-id"]).toBe(good);
    }
    for (const bad of ["short", "a".repeat(65), "with space here", "newline", "<script>alert", "é".repeat(10)]) {
      expect((await ask(bad)).headers["x-request-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }
  });

  test("that refuses is a problem document with the same request id", async () => {
    const answer = await refund({ "x-request-id": "request-0001" });
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    expect(answer.json()).toEqual({
      type: "/problems/missing_api_key",
      title: "API key is missing",
      status: 401,
      detail: expect.any(String),
      instance: "urn:amana:request:request-0001",
      code: "missing_api_key",
      request_id: "request-0001",
    });
  });

  test("to a fault tells nothing but the request id", async () => {
    gateway.behaviour.payments.getPayment = async () => {
      throw new Error("password=hunter2");
    };
    const answer = await inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: gateway.business.headers });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().code).toBe("internal_error");
    expect(answer.body).not.toMatch(/hunter2|Error|\.ts/);
    expect(answer.json().detail).toContain(answer.headers["x-request-id"]);
  });

  test("to a service that does not answer in time is 504", async () => {
    gateway.behaviour.payments.getPayment = async () => {
      throw new ConnectError("too late", Code.DeadlineExceeded);
    };
    const answer = await inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: gateway.business.headers });
    expect([answer.statusCode, answer.json().code]).toEqual([504, "upstream_timeout"]);
  });

  test("carries the trace on, in a span of its own and with flags of its own", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const ask = (traceparent: string) =>
      inject({ method: "GET", url: `/api/v1/payments/${id}`, headers: { ...gateway.business.headers, traceparent } });
    await ask(`00-${trace}-00f067aa0ba902b7-01`);
    await ask("00-nonsense");
    const [first, second] = gateway.received.map(({ call }) => call.traceparent);
    expect(first).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
    expect(first).not.toContain("00f067aa0ba902b7");
    expect(second).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});

describe("an idempotency key", () => {
  const key = "0b6d3b1e-key";
  const send = (url: string, payload: string, headers: Record<string, string> = {}) =>
    inject({
      method: "POST",
      url: `/api/v1${url}`,
      headers: { ...gateway.business.headers, ...json, "idempotency-key": key, ...headers },
      payload,
    });

  test("goes to the service with its route and a fingerprint of path and bytes", async () => {
    await send("/payments", JSON.stringify(body));
    await send("/payments?", JSON.stringify(body));
    await send("/payments", `${JSON.stringify(body)} `);
    await send(`/payments/${id}/refund`, "{}");
    await send(`/payments/${id.replace(/1$/, "2")}/refund`, "{}");
    const keys = gateway.received.map(({ call }) => call.idempotencyKey);
    expect(keys.map((one) => one?.route)).toEqual([
      ...Array(3).fill("POST /api/v1/payments"),
      ...Array(2).fill("POST /api/v1/payments/{id}/refund"),
    ]);
    expect(keys.every((one) => one?.key === key)).toBe(true);
    const [first, sameWithQuery, otherBytes, refundOne, refundTwo] = keys.map((one) => one?.fingerprint);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    // A guess at what a body said must not be confirmed by who reads the fingerprint.
    expect(first).not.toBe(hash("sha256", `/api/v1/payments\n${JSON.stringify(body)}`));
    expect(sameWithQuery).toBe(first);
    expect(new Set([first, otherBytes, refundOne, refundTwo]).size).toBe(4);
  });

  test("is the same request's for every replica, whichever step of replacing the fingerprints' key each has come to", async () => {
    const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const keyAt = async (fingerprintKeys: Buffer[]): Promise<IdempotencyKey> => {
      await using replica = await startTestGateway({ fingerprintKeys });
      const headers = { ...replica.business.headers, ...json, "idempotency-key": key };
      await replica.app.inject({ method: "POST", url: "/api/v1/payments", headers, payload: JSON.stringify(body) });
      return replica.received[0]?.call.idempotencyKey as IdempotencyKey;
    };
    const steps = await Promise.all([[old], [old, fresh], [fresh, old], [fresh]].map(keyAt));
    for (const [i, step] of steps.entries()) {
      for (const neighbour of steps.slice(Math.max(0, i - 1), i + 2))
        expect(isSameRequest(step, neighbour.fingerprint)).toBe(true);
    }
    expect(isSameRequest(steps[3] as IdempotencyKey, steps[0]?.fingerprint ?? "")).toBe(false);
  });

  test("is optional", async () => {
    await refund(gateway.business.headers);
    expect(gateway.received[0]?.call.idempotencyKey).toBeUndefined();
  });

  test("that gets a stored answer says so, and a creation is a creation again", async () => {
    gateway.behaviour.payments.createPayment = async (_request, call) => {
      call.markReplayed();
      return aPayment;
    };
    const answer = await send("/payments", JSON.stringify(body));
    expect([answer.statusCode, answer.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    expect(answer.headers["location"]).toBe(`/api/v1/payments/${id}`);
  });

  test("that gets a stored refusal says so", async () => {
    gateway.behaviour.payments.refundPayment = async (_request, call) => {
      call.markReplayed();
      throw new DomainError("refused_upstream", "refund_refused", "The processor said no.");
    };
    const answer = await send(`/payments/${id}/refund`, "{}");
    expect([answer.statusCode, answer.json().code, answer.headers["idempotent-replayed"]]).toEqual([
      422,
      "refund_refused",
      "true",
    ]);
  });

  test.each(["a".repeat(256), "with space", "é", "tab\tinside", ""])("%j is refused", async (bad) => {
    const answer = await send("/payments", JSON.stringify(body), { "idempotency-key": bad });
    expect([answer.statusCode, answer.json().code]).toEqual([400, "invalid_idempotency_key"]);
  });
});
