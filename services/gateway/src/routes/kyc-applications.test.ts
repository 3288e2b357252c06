import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { DomainError } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
  const { kycApplications } = gateway.behaviour;
  kycApplications.createKycApplication = async () => anApplication();
  kycApplications.getKycApplication = async () => anApplication();
  kycApplications.cancelKycApplication = async () => anApplication({ status: KycStatus.CANCELED });
  kycApplications.reviewKycApplication = async () =>
    anApplication({ status: KycStatus.COMPLETED, verdict: KycVerdict.APPROVED, linkUrl: undefined });
});

const id = "019a0000-0000-7000-8000-000000000001";
const at = 1_795_170_000_000n;
const isoAt = "2026-11-20T10:20:00.000Z";
const metadata = String.raw`{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\u00e9 \ud83d\ude00","k":[null,true,"\/"]}`;

const anApplication = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  createdAtMs: at,
  linkUrl: "https://verify.example/token",
  linkExpiresAtMs: at,
  status: KycStatus.CREATED,
  syncedAtMs: at,
  metadata: "{}",
  attemptsRemaining: 3,
  ...fields,
});
const creationShape = {
  id,
  created_at: isoAt,
  link_url: "https://verify.example/token",
  link_expires_at: isoAt,
  status: "CREATED",
};

const path = "/kyc/applications";
const send = (method: string, url: string, payload?: object | string, headers: Record<string, string> = {}) =>
  gateway.app.inject({
    method: method as "GET",
    url: `/api/v1${url}`,
    headers: {
      ...gateway.business.headers,
      ...(payload === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload: typeof payload === "string" ? payload : JSON.stringify(payload) }),
  });

describe("POST /kyc/applications", () => {
  test.each([undefined, "", {}, "\ufeff{}"])(
    "POST /kyc/applications accepts the body %j and sends the default values to kyc",
    async (payload) => {
      const response = await send("POST", path, payload);
      expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1${path}/${id}`]);
      expect(response.json()).toEqual(creationShape);
      const { request, call } = gateway.received[0] ?? {};
      expect(request).toMatchObject({ allowedDocuments: [], locale: "fr", metadata: "" });
      for (const name of ["maxAttempts", "requireVideo", "ttlHours", "clientId", "externalId", "profile", "redirectUrl"]) {
        expect(request).not.toHaveProperty(name);
      }
      expect(call?.caller).toMatchObject({ role: "business", businessId: gateway.business.businessId });
      expect(call?.remainingMs()).toBeGreaterThan(20_000);
    },
  );

  test("POST /kyc/applications sends each field to kyc, and sends metadata and profile byte for byte", async () => {
    const profile = String.raw`{"first_name":"Am\u00efna","n":1.10}`;
    const response = await send(
      "POST",
      path,
      `{"allowed_documents":["passport"],"applicant_email":"a@b.dz","applicant_phone":"+213550123456","client_id":"${id.toUpperCase()}",
        "external_id":"é-1","locale":"AR","max_attempts":1,"metadata": ${metadata} ,"profile":${profile},
        "redirect_url":"https://shop.example/done","require_video":false,"ttl_hours":720}`,
    );
    expect(response.statusCode).toBe(201);
    expect(gateway.received[0]?.request).toMatchObject({
      allowedDocuments: ["passport"],
      applicantEmail: "a@b.dz",
      applicantPhone: "+213550123456",
      clientId: id,
      externalId: "é-1",
      locale: "ar",
      maxAttempts: 1,
      metadata,
      profile,
      redirectUrl: "https://shop.example/done",
      requireVideo: false,
      ttlHours: 720,
    });
  });

  test("POST /kyc/applications returns client_id and external_id if the application has values for them", async () => {
    gateway.behaviour.kycApplications.createKycApplication = async () => anApplication({ clientId: id, externalId: "x" });
    expect((await send("POST", path)).json()).toEqual({ ...creationShape, client_id: id, external_id: "x" });
  });

  const nestedObject = (levels: number): object => (levels === 1 ? {} : { a: nestedObject(levels - 1) });
  const large = { a: "x".repeat(16 * 1024 - 8) };
  const invalidValues: [name: string, values: unknown[]][] = [
    ["allowed_documents", [[], ["id_card", "id_card"], ["driving_licence"], ["ID_CARD"], "passport", [1], {}, null]],
    [
      "applicant_email",
      ["", "amina", "amina@", "@example.dz", "a b@example.dz", "amina@localhost", `${"a".repeat(250)}@b.dz`, 7, null],
    ],
    [
      "applicant_phone",
      ["", "0550123456", "00213550123456", "+0550123456", "+213 550 12 34 56", "+٢١٣٥٥٠", `+${"1".repeat(16)}`, 7, null],
    ],
    ["client_id", ["", "client", `${id}0`, "019a0000000070008000000000000001", 7, null]],
    ["external_id", ["", "x".repeat(256), 7, null, {}]],
    ["locale", ["", "de", "fr-FR", "fr ", 7, null]],
    ["max_attempts", [0, 11, -1, 1.5, "3", true, null]],
    ["metadata", ["{}", [], [1], 7, null, nestedObject(9), { ...large, b: 1 }, { a: new Array(9_000).fill(0) }]],
    ["profile", ["x", [], 7, null, nestedObject(9), { ...large, b: 1 }]],
    [
      "redirect_url",
      [
        "",
        "/done",
        "http://shop.example",
        "http://127.0.0.1",
        "javascript:alert(1)",
        "https://a:b@shop.example",
        `https://shop.example/${"x".repeat(2048)}`,
        7,
        null,
      ],
    ],
    ["require_video", ["true", 1, 0, null]],
    ["ttl_hours", [0, 721, 1.5, "72", -1, null]],
    ...["id", "status", "verdict", "business_id", "link_url", "reason_codes", "synced_at", "Locale", "constructor"].map(
      (name): [string, unknown[]] => [name, ["x"]],
    ),
  ];
  /** Returns the JSON text of a value, shortened for a test title. */
  const shortenedJson = (value: unknown) => JSON.stringify(value).slice(0, 60).toWellFormed();

  test.each(invalidValues.flatMap(([name, values]) => values.map((value) => [name, shortenedJson(value), value] as const)))(
    "POST /kyc/applications rejects %s = %s, and the error has a pointer to the field",
    async (name, _text, value) => {
      const response = await send("POST", path, { [name]: value });
      expect(response.statusCode).toBe(422);
      expect(response.json()).toMatchObject({ code: expect.any(String), errors: [{ pointer: `/${name}` }] });
      expect(gateway.received).toEqual([]);
    },
  );

  const maximalBodies: object[] = [
    { allowed_documents: ["id_card"] },
    { allowed_documents: ["passport", "id_card"] },
    { external_id: "😀".repeat(255) },
    { locale: "En" },
    { max_attempts: 10 },
    { metadata: nestedObject(8) },
    { metadata: large },
    { metadata: {} },
    { profile: nestedObject(8) },
    { ttl_hours: 1 },
    { redirect_url: "https://shop.example" },
  ];
  test.each(maximalBodies.map((body) => [shortenedJson(body), body] as const))(
    "POST /kyc/applications accepts a body with a value at its limit: %s",
    async (_text, body) => {
      expect((await send("POST", path, body)).statusCode).toBe(201);
    },
  );

  test("POST /kyc/applications returns 429 with Retry-After beyond the rate limit of creations, while GET /kyc/applications/{id} still returns 200", async () => {
    const clock = { ms: 0 };
    await using limitedGateway = await startTestGateway({ limits: { kycPerSecond: 1 }, nowMs: () => clock.ms });
    limitedGateway.behaviour.kycApplications.createKycApplication = async () => anApplication();
    limitedGateway.behaviour.kycApplications.getKycApplication = async () => anApplication();
    const { headers } = limitedGateway.business;
    const create = () => limitedGateway.app.inject({ method: "POST", url: `/api/v1${path}`, headers });
    const responses = [await create(), await create(), await create()];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([201, 201, 429]);
    expect([responses[2]?.json().code, responses[2]?.headers["retry-after"]]).toEqual(["rate_limited", "1"]);
    expect((await limitedGateway.app.inject({ url: `/api/v1${path}/${id}`, headers })).statusCode).toBe(200);
    clock.ms += 1_000;
    expect((await create()).statusCode).toBe(201);
  });

  test("POST /kyc/applications returns an error for each invalid field, and no error contains data of the applicant", async () => {
    const response = await send("POST", path, {
      profile: "Amina Benali",
      applicant_email: "amina benali",
      applicant_phone: "0550123456",
      ttl_hours: 0,
      surprise: 1,
    });
    const pointers = response.json().errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers.sort()).toEqual(["/applicant_email", "/applicant_phone", "/profile", "/surprise", "/ttl_hours"]);
    expect(response.body).not.toMatch(/benali|0550/i);
  });

  test.each([
    ['{"profile":{"a":1,"a":2}}', 400, "invalid_json"],
    ['{"metadata":{"a":"\\u0000"}}', 422, "invalid_text"],
    ['{"profile":{"\\ud800":1}}', 422, "invalid_text"],
    ["[]", 400, "invalid_json"],
    ["null", 400, "invalid_json"],
    ["{", 400, "invalid_json"],
  ])("POST /kyc/applications with the body %s returns status %i with the code %s", async (body, status, code) => {
    const response = await send("POST", path, body);
    expect(response.statusCode).toBe(status);
    expect([response.json().code, ...(response.json().errors ?? []).map((error: { code: string }) => error.code)]).toContain(
      code,
    );
    expect(gateway.received).toEqual([]);
  });

  test("POST /kyc/applications returns an error with the name but not the value of a repeated JSON member", async () => {
    const response = await send("POST", path, '{"profile":{"first_name":"Amina","first_name":"Lina"}}');
    expect(response.json().detail).toContain("first_name");
    expect(response.body).not.toMatch(/Amina|Lina/);
  });

  test("POST /kyc/applications with allowInsecureUrls accepts an http redirect_url only on loopback", async () => {
    await using insecureGateway = await startTestGateway({ allowInsecureUrls: true });
    insecureGateway.behaviour.kycApplications.createKycApplication = async () => anApplication();
    const create = (redirect_url: string) =>
      insecureGateway.app.inject({
        method: "POST",
        url: `/api/v1${path}`,
        headers: insecureGateway.business.headers,
        payload: { redirect_url },
      });
    expect((await create("http://127.0.0.1:3000/done")).statusCode).toBe(201);
    expect((await create("http://shop.example/done")).statusCode).toBe(422);
  });

  test.each([
    ["not_found", "client_not_found", 404, undefined],
    ["conflict", "client_blocked", 409, undefined],
    ["upstream_error", "kyc_provider_error", 502, undefined],
    ["unavailable", "kyc_provider_unavailable", 503, "1"],
    ["conflict", "idempotency_in_progress", 409, "5"],
    ["invalid", "idempotency_key_reused", 422, undefined],
  ] as const)(
    "POST /kyc/applications maps a refusal of the kind %s with the code %s to status %i and Retry-After %s",
    async (kind, code, status, retryAfter) => {
      gateway.behaviour.kycApplications.createKycApplication = async () => {
        throw new DomainError(kind, code, "The request was refused.");
      };
      const response = await send("POST", path, {});
      expect([response.statusCode, response.json().code, response.headers["retry-after"]]).toEqual([status, code, retryAfter]);
    },
  );
});

describe("GET /kyc/applications", () => {
  test("GET /kyc/applications/{id} returns an application with its metadata byte for byte", async () => {
    gateway.behaviour.kycApplications.getKycApplication = async () => anApplication({ metadata });
    const response = await send("GET", `${path}/${id}`);
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(response.json()).toMatchObject({ ...creationShape, aml_hit_count: 0, reason_codes: [], synced_at: isoAt });
    expect(response.body).toContain(`"metadata":${metadata}`);
  });

  test("GET /kyc/applications sends each filter to kyc, and returns an array with the total and links to other pages", async () => {
    gateway.behaviour.kycApplications.listKycApplications = async () => ({
      applications: [anApplication({ metadata }), anApplication()],
      total: 7,
    });
    const query = `limit=2&offset=2&status=COMPLETED&verdict=NEEDS_REVIEW&client_id=${id}&external_id=a%26b`;
    const response = await send(
      "GET",
      `${path}?${query}&created_from=2026-11-20T11:00:00%2B01:00&created_to=2026-11-21T00:00:00Z`,
    );
    expect([response.statusCode, response.json().length, response.headers["x-total-count"]]).toEqual([200, 2, "7"]);
    expect(response.body).toContain(`"metadata":${metadata}`);
    expect(String(response.headers["link"])).toMatch(/rel="next".*rel="last"|rel="last".*rel="next"/);
    expect(gateway.received[0]?.request).toMatchObject({
      limit: 2,
      offset: 2,
      status: KycStatus.COMPLETED,
      verdict: KycVerdict.NEEDS_REVIEW,
      clientId: id,
      externalId: "a&b",
      createdFromMs: BigInt(Date.parse("2026-11-20T10:00:00Z")),
      createdToMs: BigInt(Date.parse("2026-11-21T00:00:00Z")),
    });
  });

  test("GET /kyc/applications uses limit 50 and offset 0 by default, and returns an empty array for a business without applications", async () => {
    gateway.behaviour.kycApplications.listKycApplications = async () => ({ applications: [], total: 0 });
    expect((await send("GET", path)).body).toBe("[]");
    expect(gateway.received[0]?.request).toMatchObject({ limit: 50, offset: 0 });
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=1&limit=2",
    "offset=-1",
    "status=completed",
    "status=DONE",
    "verdict=",
    "verdict=MAYBE",
    "client_id=x",
    "external_id=",
    "external_id=%00",
    "created_from=2026-11-20",
    "created_to=2026-02-30T00:00:00Z",
  ])("GET /kyc/applications returns 422 with the name of the parameter for the query ?%s", async (query) => {
    const response = await send("GET", `${path}?${query}`);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ parameter: query.split("=")[0] })]);
  });
});

describe.each([
  ["GET", (applicationId: string) => `${path}/${applicationId}`],
  ["POST", (applicationId: string) => `${path}/${applicationId}/cancel`],
] as const)("%s of one application", (method, pathOf) => {
  test(`${method} ${pathOf("{id}")} returns the same 404 for another business's application, an unknown id and a malformed id`, async () => {
    const { kycApplications } = gateway.behaviour;
    kycApplications.getKycApplication = kycApplications.cancelKycApplication = async () => {
      throw new DomainError("not_found", "not_found", "There is no such KYC application.");
    };
    const headers = { "x-request-id": "same-request" };
    const notFound = await send(method, pathOf(uuidv7()), undefined, headers);
    expect([notFound.statusCode, notFound.json().code]).toEqual([404, "not_found"]);
    for (const malformed of ["x", "%00", `${id}0`, "..%2f..", "019a0000000070008000000000000001", "a".repeat(2000)]) {
      const response = await send(method, pathOf(malformed), undefined, headers);
      expect([response.statusCode, response.body]).toEqual([404, notFound.body]);
    }
  });
});

describe("POST /kyc/applications/{id}/cancel", () => {
  test.each([undefined, "", {}])(
    "POST /kyc/applications/{id}/cancel accepts the body %j and returns 200 with the application",
    async (payload) => {
      const response = await send("POST", `${path}/${id}/cancel`, payload);
      expect([response.statusCode, response.json().status, response.json().synced_at]).toEqual([200, "CANCELED", isoAt]);
      expect(gateway.received[0]).toMatchObject({ rpc: "CancelKycApplication", request: { id } });
    },
  );

  test("POST /kyc/applications/{id}/cancel returns 422 for a body with a field", async () => {
    expect((await send("POST", `${path}/${id}/cancel`, { reason: "x" })).statusCode).toBe(422);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    ["kyc_application_final", undefined],
    ["kyc_in_progress", "5"],
  ] as const)(
    "POST /kyc/applications/{id}/cancel maps the refusal %s of kyc to status 409 and Retry-After %s",
    async (code, retryAfter) => {
      gateway.behaviour.kycApplications.cancelKycApplication = async () => {
        throw new DomainError("conflict", code, "The request was refused.");
      };
      const response = await send("POST", `${path}/${id}/cancel`);
      expect([response.statusCode, response.json().code, response.headers["retry-after"]]).toEqual([409, code, retryAfter]);
    },
  );
});

describe("POST /kyc/applications/{id}/review", () => {
  const decision = { outcome: "REJECTED", note: "Another person." };
  const review = (payload?: object | string, headers: Record<string, string> = gateway.admin.headers) =>
    send("POST", `${path}/${id}/review`, payload, headers);

  test("POST /kyc/applications/{id}/review sends the operator's decision to kyc, and returns the application without its link", async () => {
    const response = await review(decision);
    expect(response.json()).toMatchObject({ id, status: "COMPLETED", verdict: "APPROVED" });
    expect(response.json()).not.toHaveProperty("link_url");
    expect(gateway.received[0]).toMatchObject({
      rpc: "ReviewKycApplication",
      request: { id, outcome: KycVerdict.REJECTED, note: decision.note },
      call: { caller: { role: "admin" } },
    });
  });

  test("POST /kyc/applications/{id}/review requires an operator key", async () => {
    const response = await review(decision, gateway.business.headers);
    expect([response.statusCode, response.json().code]).toEqual([403, "admin_required"]);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    [undefined, 400, undefined],
    [{}, 422, ["/note", "/outcome"]],
    [{ ...decision, outcome: "NEEDS_REVIEW" }, 422, ["/outcome"]],
    [{ ...decision, outcome: "approved" }, 422, ["/outcome"]],
    [{ ...decision, note: "" }, 422, ["/note"]],
    [{ ...decision, note: "x".repeat(1_001) }, 422, ["/note"]],
    [{ ...decision, reviewer: "me" }, 422, ["/reviewer"]],
  ])(
    "POST /kyc/applications/{id}/review with the body %j returns status %i with errors at %j",
    async (payload, status, pointers) => {
      const response = await review(payload);
      expect(response.statusCode).toBe(status);
      expect(
        response
          .json()
          .errors?.map(({ pointer }: { pointer: string }) => pointer)
          .sort(),
      ).toEqual(pointers);
    },
  );
});

describe("routes of KYC applications", () => {
  const routes = [
    ["GET", path],
    ["POST", path],
    ["GET", `${path}/${id}`],
    ["POST", `${path}/${id}/cancel`],
    ["POST", `${path}/${id}/review`],
  ] as const;

  test.each(routes)("%s %s returns 401 without a key", async (method, url) => {
    const response = await gateway.app.inject({ method, url: `/api/v1${url}` });
    expect([response.statusCode, response.json().code]).toEqual([401, "missing_api_key"]);
  });

  test.each(routes.slice(0, 4))("%s %s returns 403 business_key_required for an operator", async (method, url) => {
    const response = await send(method, url, undefined, gateway.admin.headers);
    expect([response.statusCode, response.json().code]).toEqual([403, "business_key_required"]);
  });

  test.each([
    ["PUT", path, "GET, POST"],
    ["DELETE", `${path}/${id}`, "GET"],
    ["PATCH", `${path}/${id}`, "GET"],
    ["GET", `${path}/${id}/cancel`, "POST"],
    ["GET", `${path}/${id}/review`, "POST"],
  ])("%s %s returns 405 with the allowed methods", async (method, url, allow) => {
    const response = await send(method, url);
    expect(response.statusCode).toBe(405);
    expect(
      String(response.headers["allow"])
        .split(", ")
        .filter((name) => name !== "HEAD")
        .join(", "),
    ).toBe(allow);
  });

  test.each(["/kyc", "/kyc/application", `${path}/${id}/approve`])(
    "POST %s returns 404, because the route does not exist",
    async (url) => {
      expect((await send("POST", url)).statusCode).toBe(404);
    },
  );

  test.each(routes.filter(([method]) => method === "POST"))("%s %s accepts only JSON of at most 1 MiB", async (method, url) => {
    const headers = url.endsWith("review") ? gateway.admin.headers : {};
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
      expect((await send(method, url, "a=b", { ...headers, "content-type": type })).statusCode, type).toBe(415);
    }
    expect((await send(method, url, " ".repeat(1024 * 1024 + 1), headers)).statusCode).toBe(413);
    expect(gateway.received).toEqual([]);
  });

  test.each(routes.filter(([method]) => method === "POST"))(
    "%s %s forwards an Idempotency-Key, and rejects a malformed Idempotency-Key",
    async (method, url) => {
      const admin = url.endsWith("review");
      const headers = admin ? gateway.admin.headers : {};
      const body = admin ? { outcome: "APPROVED", note: "x" } : {};
      for (const key of ["a b", "x".repeat(256), "é"]) {
        const response = await send(method, url, body, { ...headers, "idempotency-key": key });
        expect([response.statusCode, response.json().code]).toEqual([400, "invalid_idempotency_key"]);
      }
      expect(gateway.received).toEqual([]);
      await send(method, url, body, { ...headers, "idempotency-key": "k" });
      expect(gateway.received[0]?.call.idempotencyKey).toMatchObject({
        key: "k",
        route: `POST /api/v1${url.replace(id, "{id}")}`,
      });
    },
  );
});
