import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { Amana, ConnectionError, ProblemError } from "./index.ts";

/** What the other side of the wire does with one request. */
type Reply = "gone" | "reset" | "cut" | "silence" | { status: number; body?: unknown; headers?: Record<string, string> };
interface Seen {
  readonly line: string;
  readonly key: string | undefined;
  readonly body: string;
}

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** A peer that replies as told, the last one again and again, and writes down what it was sent. */
async function peer(...replies: Reply[]) {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    seen.push({
      line: `${request.method} ${request.url}`,
      key: request.headers["idempotency-key"] as string | undefined,
      body: await text(request),
    });
    const reply = replies[Math.min(seen.length, replies.length) - 1] ?? "silence";
    if (reply === "gone") server.close();
    if (reply === "reset" || reply === "gone") return void request.socket.resetAndDestroy();
    if (reply === "silence") return;
    const whole = reply === "cut" ? { status: 201, body: { id: "cut" } } : reply;
    const written = typeof whole.body === "string" ? whole.body : JSON.stringify(whole.body ?? {});
    response.writeHead(whole.status, { ...whole.headers, "content-length": Buffer.byteLength(written) });
    if (reply !== "cut") return void response.end(written);
    response.write(written.slice(0, 4), () => request.socket.destroy());
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, seen, amana: new Amana({ baseUrl, apiKey: "sk_test_1", retryPauseMs: 1, timeoutMs: 500 }) };
}

const ours = { "content-type": "application/problem+json; charset=utf-8" };
const problem = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { ...ours, ...headers },
  body: { code, detail: "…", request_id: "r-1" },
});
const created: Reply = { status: 201, body: { id: "p-1" } };
const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
const html: Reply = { status: 502, body: "<h1>Bad gateway</h1>" };
const foreign: Reply = {
  status: 502,
  body: { code: "bad_gateway", errors: "none" },
  headers: { "content-type": "application/json" },
};

test.each<[string, Reply[]]>([
  ["the connection breaks", ["reset"]],
  ["the answer is cut off", ["cut"]],
  ["no answer comes in time", ["silence"]],
  ["a success that is no JSON", [{ status: 200, body: "<p>Please log in</p>" }]],
  ["a success without a body", [{ status: 201, body: "" }]],
  ["429", [problem(429, "rate_limited", { "retry-after": "0" })]],
  ["503 and 500", [problem(503, "service_unavailable"), problem(500, "internal_error")]],
  ["504, then in progress", [problem(504, "refund_outcome_unknown"), problem(409, "idempotency_in_progress")]],
  ["502s of something in between", [html, foreign]],
])("a POST is repeated after: %s; the same bytes under the same key", async (_what, replies) => {
  const { amana, seen } = await peer(...replies, created);
  expect(await amana.payments.create(order)).toEqual({ id: "p-1" });
  expect(seen).toHaveLength(replies.length + 1);
  expect(seen[0]?.key).toMatch(/^[\x21-\x7e]{20,255}$/);
  expect(new Set(seen.map(({ key, body, line }) => `${line} ${key} ${body}`)).size).toBe(1);
});

test("each POST has a key of its own, or the caller's", async () => {
  const { amana, seen } = await peer(created);
  await amana.payments.create(order);
  await amana.payments.create(order);
  await amana.payments.refund("p-1", {}, { idempotencyKey: "refund-1" });
  expect(new Set(seen.map(({ key }) => key)).size).toBe(3);
  expect(seen[2]?.key).toBe("refund-1");
  await expect(amana.payments.create(order, { idempotencyKey: "a\nb" })).rejects.toThrow(TypeError);
});

test.each<[string, Reply[], boolean, number]>([
  ["an answer that never came", ["reset"], true, 4],
  ["nobody there any more behind a lost answer", ["gone"], true, 1],
  ["429 alone: nothing was done", [problem(429, "rate_limited")], false, 4],
  ["429 behind a lost answer", ["reset", problem(429, "rate_limited")], true, 4],
  ["401 behind a lost answer", ["reset", problem(401, "api_key_revoked")], true, 2],
  ["a refusal of the rules behind a lost answer", ["reset", problem(422, "refund_refused")], false, 2],
  ["a 404 of something in between behind a lost answer", ["reset", { status: 404, body: "no route" }], true, 2],
  ["an outcome that stays unknown", [problem(504, "refund_outcome_unknown")], true, 4],
  ["another refund in progress", [problem(409, "refund_in_progress")], true, 1],
  ["overloaded: nothing was done", [problem(503, "overloaded")], false, 4],
  ["the processor's no", [problem(502, "processor_error")], false, 1],
  ["a validation error", [problem(422, "validation_failed")], false, 1],
  ["a redirect", [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }], false, 1],
  ["a way back that nobody asked for", [{ status: 303, headers: { location: "http://127.0.0.1:1/" } }], false, 1],
  ["a Retry-After of an hour", [problem(503, "service_unavailable", { "retry-after": "3600" })], true, 1],
])("a refund that ends with %s", async (_what, replies, outcomeUnknown, attempts) => {
  const { amana, seen } = await peer(...replies);
  const error = await amana.payments.refund("p-1").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ outcomeUnknown, idempotencyKey: seen[0]?.key });
  expect(seen).toHaveLength(attempts);
});

test("what cannot be repeated is sent once, unless nobody has begun with it", async () => {
  const lost = await peer("reset", { status: 200 });
  const error = await lost.amana.webhookEndpoints.update("e-1", { rotate_secret: true }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect(lost.seen).toHaveLength(1);
  stop?.();
  const limited = await peer(problem(429, "rate_limited"), { status: 204, body: "" });
  await limited.amana.webhookEndpoints.delete("e-1");
  expect(limited.seen).toHaveLength(2);
});

test("where nobody listens nothing was begun", async () => {
  const { amana } = await peer(created);
  stop?.();
  const error = await amana.payments.create(order).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcomeUnknown: false });
});

test("a caller who gives up during a POST is told that it may have happened", async () => {
  const { amana, seen } = await peer("silence");
  const error = await amana.payments.create(order, { signal: AbortSignal.timeout(100) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect(seen).toHaveLength(1);
});

test("a problem has everything that the API said", async () => {
  const errors = [{ pointer: "/amount", code: "invalid", message: "…" }];
  const body = { code: "validation_failed", detail: "Put right", request_id: "r-1", errors, payment_status: "PAID" };
  const { amana } = await peer({ status: 422, body, headers: { ...ours, "retry-after": "7" } });
  const error = await amana.payments.create(order).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status: 422, code: "validation_failed", errors, requestId: "r-1", retryAfter: 7 });
  expect((error as ProblemError).members["payment_status"]).toBe("PAID");
});

test("lists are read page after page, with their filters", async () => {
  const more = { "x-total-count": "3", link: '</x?offset=2>; rel="next"' };
  const first: Reply = { status: 200, body: [{ id: "a" }, { id: "b" }], headers: more };
  const { amana, seen } = await peer(first, { status: 200, body: [{ id: "c" }], headers: { "x-total-count": "3" } });
  const ids: string[] = [];
  for await (const { id } of amana.payments.list({ limit: 2, status: "PAID" })) ids.push(id);
  expect(ids).toEqual(["a", "b", "c"]);
  const base = "GET /api/v1/payments?limit=2&status=PAID";
  expect(seen.map(({ line }) => line)).toEqual([base, `${base}&offset=2`]);
  stop?.();
  const again = await peer(first);
  expect(await again.amana.payments.list().page()).toMatchObject({ total: 3, isLast: false });
});

test("an id stays one part of the path", async () => {
  const { amana, seen } = await peer({ status: 200 });
  await amana.payments.get("a/../b?c");
  expect(seen[0]?.line).toBe("GET /api/v1/payments/a%2F..%2Fb%3Fc");
  for (const id of ["", ".", ".."]) expect(() => amana.payments.get(id)).toThrow(TypeError);
});

test("what is wrong with a client is said at once, without its key; a setting of undefined is none", async () => {
  const { baseUrl, seen } = await peer(created);
  for (const apiKey of ["", "sk_test_\nsecret", "sk_test_secret\n"]) {
    const make = () => new Amana({ baseUrl, apiKey });
    expect(make).toThrow(TypeError);
    expect(make).not.toThrow(/secret/);
  }
  for (const address of ["", "api.example", "ftp://api.example", "https://a:b@api.example", "https://api.example/?x"])
    expect(() => new Amana({ baseUrl: address, apiKey: "sk_test_1" }), address).toThrow(TypeError);
  const unset = { timeoutMs: undefined, retries: undefined, retryPauseMs: undefined } as object;
  expect(await new Amana({ baseUrl, apiKey: "sk_test_1", ...unset }).payments.create(order)).toEqual({ id: "p-1" });
  expect(seen).toHaveLength(1);
});
