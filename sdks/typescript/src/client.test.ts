import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { Amana, ConnectionError, ProblemError } from "./index.ts";

/** Reaction of the test server to one request. */
type Reply = "gone" | "reset" | "cut" | "silence" | { status: number; body?: unknown; headers?: Record<string, string> };
interface ReceivedRequest {
  readonly line: string;
  readonly key: string | undefined;
  readonly body: string;
}

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Starts a server that records requests and sends the replies in order. Repeats the last reply. */
async function startServer(...replies: Reply[]) {
  const received: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    received.push({
      line: `${request.method} ${request.url}`,
      key: request.headers["idempotency-key"] as string | undefined,
      body: await text(request),
    });
    const reply = replies[Math.min(received.length, replies.length) - 1] ?? "silence";
    if (reply === "gone") server.close();
    if (reply === "reset" || reply === "gone") return void request.socket.resetAndDestroy();
    if (reply === "silence") return;
    const complete = reply === "cut" ? { status: 201, body: { id: "cut" } } : reply;
    const responseText = typeof complete.body === "string" ? complete.body : JSON.stringify(complete.body ?? {});
    response.writeHead(complete.status, { ...complete.headers, "content-length": Buffer.byteLength(responseText) });
    if (reply !== "cut") return void response.end(responseText);
    response.write(responseText.slice(0, 4), () => request.socket.destroy());
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, received, amana: new Amana({ baseUrl, apiKey: "sk_test_1", retryPauseMs: 1, timeoutMs: 500 }) };
}

const problemHeaders = { "content-type": "application/problem+json; charset=utf-8" };
const problem = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { ...problemHeaders, ...headers },
  body: { code, detail: "…", request_id: "r-1" },
});
const created: Reply = { status: 201, body: { id: "p-1" } };
const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
const html: Reply = { status: 502, body: "<h1>Bad gateway</h1>" };
const otherProblem: Reply = {
  status: 502,
  body: { code: "bad_gateway", errors: "none" },
  headers: { "content-type": "application/json" },
};

test.each<[string, Reply[]]>([
  ["a broken connection", ["reset"]],
  ["a response that is cut off", ["cut"]],
  ["no response before the timeout", ["silence"]],
  ["a success that is not JSON", [{ status: 200, body: "<p>Please log in</p>" }]],
  ["a success without a body", [{ status: 201, body: "" }]],
  ["status 429", [problem(429, "rate_limited", { "retry-after": "0" })]],
  ["status 503 and then status 500", [problem(503, "service_unavailable"), problem(500, "internal_error")]],
  [
    "status 504 and then code idempotency_in_progress",
    [problem(504, "refund_outcome_unknown"), problem(409, "idempotency_in_progress")],
  ],
  ["status 502 of an intermediary", [html, otherProblem]],
])("the TypeScript client repeats a POST with the same bytes and the same Idempotency-Key after %s", async (_name, replies) => {
  const { amana, received } = await startServer(...replies, created);
  expect(await amana.payments.create(order)).toEqual({ id: "p-1" });
  expect(received).toHaveLength(replies.length + 1);
  expect(received[0]?.key).toMatch(/^[\x21-\x7e]{20,255}$/);
  expect(new Set(received.map(({ key, body, line }) => `${line} ${key} ${body}`)).size).toBe(1);
});

test("the TypeScript client sends a new Idempotency-Key with each POST, unless the caller sets an Idempotency-Key", async () => {
  const { amana, received } = await startServer(created);
  await amana.payments.create(order);
  await amana.payments.create(order);
  await amana.payments.refund("p-1", {}, { idempotencyKey: "refund-1" });
  expect(new Set(received.map(({ key }) => key)).size).toBe(3);
  expect(received[2]?.key).toBe("refund-1");
  await expect(amana.payments.create(order, { idempotencyKey: "a\nb" })).rejects.toThrow(TypeError);
});

test.each<[string, boolean, number, Reply[]]>([
  ["no response", true, 4, ["reset"]],
  ["an unreachable server after a lost response", true, 1, ["gone"]],
  ["status 429 for each attempt (no effect)", false, 4, [problem(429, "rate_limited")]],
  ["status 429 after a lost response", true, 4, ["reset", problem(429, "rate_limited")]],
  ["status 401 after a lost response", true, 2, ["reset", problem(401, "api_key_revoked")]],
  ["a rejection by a domain rule after a lost response", false, 2, ["reset", problem(422, "refund_refused")]],
  ["status 404 of an intermediary after a lost response", true, 2, ["reset", { status: 404, body: "no route" }]],
  ["an outcome that stays unknown", true, 4, [problem(504, "refund_outcome_unknown")]],
  ["another refund in progress", true, 1, [problem(409, "refund_in_progress")]],
  ["code overloaded (no effect)", false, 4, [problem(503, "overloaded")]],
  ["a rejection by the processor", false, 1, [problem(502, "processor_error")]],
  ["a validation error", false, 1, [problem(422, "validation_failed")]],
  ["a redirect", false, 1, [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }]],
  ["an unexpected redirect with status 303", false, 1, [{ status: 303, headers: { location: "http://127.0.0.1:1/" } }]],
  ["a Retry-After of an hour", true, 1, [problem(503, "service_unavailable", { "retry-after": "3600" })]],
])(
  "the TypeScript client, if a refund ends with %s, throws an error with outcomeUnknown %s (number of attempts: %i)",
  async (_name, outcomeUnknown, attempts, replies) => {
    const { amana, received } = await startServer(...replies);
    const error = await amana.payments.refund("p-1").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ outcomeUnknown, idempotencyKey: received[0]?.key });
    expect(received).toHaveLength(attempts);
  },
);

test("the TypeScript client repeats a DELETE request after status 429, but no PATCH request after a lost response", async () => {
  const unanswered = await startServer("reset", { status: 200 });
  const error = await unanswered.amana.webhookEndpoints.update("e-1", { rotate_secret: true }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect(unanswered.received).toHaveLength(1);
  stop?.();
  const rateLimited = await startServer(problem(429, "rate_limited"), { status: 204, body: "" });
  await rateLimited.amana.webhookEndpoints.delete("e-1");
  expect(rateLimited.received).toHaveLength(2);
});

test("the TypeScript client throws an error with outcomeUnknown false if the server is unreachable", async () => {
  const { amana } = await startServer(created);
  stop?.();
  const error = await amana.payments.create(order).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcomeUnknown: false });
});

test("the TypeScript client throws an error with outcomeUnknown true if the caller aborts a POST", async () => {
  const { amana, received } = await startServer("silence");
  const error = await amana.payments.create(order, { signal: AbortSignal.timeout(100) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect(received).toHaveLength(1);
});

test("the TypeScript client throws a ProblemError with all members of an error response", async () => {
  const errors = [{ pointer: "/amount", code: "invalid", message: "…" }];
  const body = { code: "validation_failed", detail: "Correct the amount.", request_id: "r-1", errors, payment_status: "PAID" };
  const { amana } = await startServer({ status: 422, body, headers: { ...problemHeaders, "retry-after": "7" } });
  const error = await amana.payments.create(order).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status: 422, code: "validation_failed", errors, requestId: "r-1", retryAfter: 7 });
  expect((error as ProblemError).members["payment_status"]).toBe("PAID");
});

test("the TypeScript client reads all pages of a list, and sends the same filters for each page", async () => {
  const nextPageHeaders = { "x-total-count": "3", link: '</x?offset=2>; rel="next"' };
  const first: Reply = { status: 200, body: [{ id: "a" }, { id: "b" }], headers: nextPageHeaders };
  const { amana, received } = await startServer(first, { status: 200, body: [{ id: "c" }], headers: { "x-total-count": "3" } });
  const ids: string[] = [];
  for await (const { id } of amana.payments.list({ limit: 2, status: "PAID" })) ids.push(id);
  expect(ids).toEqual(["a", "b", "c"]);
  const base = "GET /api/v1/payments?limit=2&status=PAID";
  expect(received.map(({ line }) => line)).toEqual([base, `${base}&offset=2`]);
  stop?.();
  const secondServer = await startServer(first);
  expect(await secondServer.amana.payments.list().page()).toMatchObject({ total: 3, isLast: false });
});

test("the TypeScript client encodes an id as one path segment, and rejects the ids '', '.' and '..'", async () => {
  const { amana, received } = await startServer({ status: 200 });
  await amana.payments.get("a/../b?c");
  expect(received[0]?.line).toBe("GET /api/v1/payments/a%2F..%2Fb%3Fc");
  for (const id of ["", ".", ".."]) expect(() => amana.payments.get(id)).toThrow(TypeError);
});

test("the TypeScript client throws a TypeError that does not contain the key if a setting is invalid, and uses the default for a setting that is undefined", async () => {
  const { baseUrl, received } = await startServer(created);
  for (const apiKey of ["", "sk_test_\nsecret", "sk_test_secret\n"]) {
    const create = () => new Amana({ baseUrl, apiKey });
    expect(create).toThrow(TypeError);
    expect(create).not.toThrow(/secret/);
  }
  for (const address of ["", "api.example", "ftp://api.example", "https://a:b@api.example", "https://api.example/?x"])
    expect(() => new Amana({ baseUrl: address, apiKey: "sk_test_1" }), address).toThrow(TypeError);
  const undefinedOptions = { timeoutMs: undefined, retries: undefined, retryPauseMs: undefined } as object;
  expect(await new Amana({ baseUrl, apiKey: "sk_test_1", ...undefinedOptions }).payments.create(order)).toEqual({ id: "p-1" });
  expect(received).toHaveLength(1);
});
