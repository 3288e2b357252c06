import { type StatementLine, StatementLineType } from "@amana/contracts/payments/v1/statement_service_pb";
import { DomainError } from "@amana/rpc";
import { eventually } from "@amana/testing";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";
import { RawClient } from "../../test/raw-client.ts";
import { totalKey } from "../bounded-counters.ts";

const paymentId = "019a0000-0000-7000-8000-000000000001";
const from = "2026-11-01T00:00:00Z";
const path = `/api/v1/payments/statement?from=${from}&to=2026-12-01T00:00:00Z`;
const fromMs = Date.parse(from);
const untilMs = BigInt(Date.parse("2026-11-25T10:00:00.123Z"));

type Line = Partial<Omit<StatementLine, "$typeName" | "$unknown">>;
const aLine = (i: number, changes: Line = {}): Line => ({
  atMs: BigInt(fromMs + i),
  type: StatementLineType.PAYMENT,
  paymentId,
  processorOrderNumber: "0123456789",
  amountMinor: 10_050n,
  currency: "DZD",
  ...changes,
});

/**
 * Starts a gateway. `pages` contains the pages of the statement, or is a function that returns the
 * page with an index.
 */
async function start(
  pages: readonly Line[][] | ((page: number) => Promise<Line[]>),
  options: Parameters<typeof startTestGateway>[0] = {},
) {
  const gateway = await startTestGateway({ leaseMs: 60_000, ...options });
  const countOf = Array.isArray(pages) ? pages.length : Number.POSITIVE_INFINITY;
  gateway.behaviour.statements.listStatementLines = async ({ cursor }) => {
    const page = Number(cursor ?? 0);
    const lines = typeof pages === "function" ? await pages(page) : (pages[page] ?? []);
    return { lines, untilMs, ...(page + 1 < countOf && { nextCursor: String(page + 1) }) } as never;
  };
  const port = Number(new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 })).port);
  const key = gateway.aKey();
  return {
    gateway,
    port,
    key,
    get: (query = path, headers = {}) => fetch(`http://127.0.0.1:${port}${query}`, { headers: { ...key.headers, ...headers } }),
    countCalls: () => gateway.received.filter(({ rpc }) => rpc === "ListStatementLines").length,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** A page of 250 KB of JSON lines. */
const longPage = Array.from({ length: 1_000 }, (_, i) => aLine(i, { orderRef: "x".repeat(20) }));

const getHeadOf = ({ headers }: { headers: { authorization: string } }, body = "") =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe("GET /payments/statement", () => {
  test("GET /payments/statement returns JSON lines of all pages with an exact running total", async () => {
    await using server = await start([
      [aLine(0, { orderRef: "a-1", paymentLinkId: paymentId }), aLine(1, { amountMinor: 9_007_199_254_740_993n })],
      [aLine(2, { type: StatementLineType.REFUND, amountMinor: -50n, origin: "PROCESSOR" })],
      [],
    ]);
    const response = await server.get();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("x-statement-until")).toBe("2026-11-25T10:00:00.123Z");
    const lines = (await response.text()).split("\n");
    expect(lines.pop()).toBe("");
    const common = { payment_id: paymentId, processor_order_number: "0123456789", currency: "DZD" };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        ...{ ...common, at: "2026-11-01T00:00:00.000Z", type: "PAYMENT", amount: "100.50", running_total: "100.50" },
        ...{ order_ref: "a-1", payment_link_id: paymentId },
      },
      {
        ...{ ...common, at: "2026-11-01T00:00:00.001Z", type: "PAYMENT" },
        ...{ amount: "90071992547409.93", running_total: "90071992547510.43" },
      },
      {
        ...{ ...common, at: "2026-11-01T00:00:00.002Z", type: "REFUND" },
        ...{ amount: "-0.50", running_total: "90071992547509.93", origin: "PROCESSOR" },
      },
    ]);
    expect(server.gateway.received.map(({ request }) => request)).toMatchObject([
      { fromMs: BigInt(fromMs), toMs: BigInt(Date.parse("2026-12-01T00:00:00Z")) },
      { cursor: "1" },
      { cursor: "2" },
    ]);
  });

  test("GET /payments/statement with Accept: text/csv returns CSV with quoted cells and escaped formulas", async () => {
    const references = ['=HYPERLINK("x")', "+1", "-1", "@a", "\ta", "\ra", 'a "b", c', "a\nb", "a=b"];
    await using server = await start([references.map((orderRef, i) => aLine(i, { orderRef, amountMinor: -1n }))]);
    const response = await server.get(path, { accept: "application/x-ndjson;q=0.5, text/csv" });
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="statement-2026-11-01-2026-11-25.csv"');
    const text = await response.text();
    const [header, first] = text.split("\r\n");
    expect(header).toBe(
      "at,type,payment_id,payment_link_id,order_ref,processor_order_number,amount,running_total,currency,origin",
    );
    expect(first).toBe(`2026-11-01T00:00:00.000Z,PAYMENT,${paymentId},,"'=HYPERLINK(""x"")",0123456789,-0.01,-0.01,DZD,`);
    const cells = [...text.matchAll(/,,("(?:[^"]|"")*"|[^,]*),0123456789/g)].map(([, cell]) => cell);
    expect(cells).toEqual([...[`"'=HYPERLINK(""x"")"`, "'+1", "'-1", "'@a", "'\ta", `"'\ra"`, '"a ""b"", c"', '"a\nb"', "a=b"]]);
  });

  test.each([
    ["text/csv", "text/csv"],
    ["*/*", "application/x-ndjson"],
    ["text/csv;q=0", "application/x-ndjson"],
    ["text/csv;q=0.4, application/x-ndjson;q=0.5", "application/x-ndjson"],
    ["text/html, TEXT/CSV;q=0.1", "text/csv"],
  ])("GET /payments/statement with Accept: %s returns the content type %s", async (accept, contentType) => {
    await using server = await start([[]]);
    expect((await server.get(path, { accept })).headers.get("content-type")).toMatch(`${contentType}`);
  });

  test.each([
    ["without `to`", `?from=${from}`, "to"],
    ["with `to` before `from`", `?from=${from}&to=2026-10-31T00:00:00Z`, "to"],
    ["with `to` equal to `from`", `?from=${from}&to=${from}`, "to"],
    ["for a range of 92 days and a millisecond", `?from=${from}&to=2027-02-01T00:00:00.001Z`, "to"],
    ["with a date without a time in `from`", "?from=2026-11-01&to=2026-11-02T00:00:00Z", "from"],
    ["with an unknown parameter", `?from=${from}&to=2026-11-02T00:00:00Z&limit=5`, "limit"],
  ])("GET /payments/statement returns 422 for a request %s, and sends no RPC", async (_, query, parameter) => {
    await using server = await start([[]]);
    const response = await server.get(`/api/v1/payments/statement${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ parameter }] });
    expect(server.countCalls()).toBe(0);
  });

  test("GET /payments/statement accepts a range of exactly 92 days", async () => {
    await using server = await start([[]]);
    expect((await server.get(`/api/v1/payments/statement?from=${from}&to=2027-02-01T00:00:00Z`)).status).toBe(200);
  });

  test("GET /payments/statement returns a problem document when the RPC for the first page fails", async () => {
    await using server = await start(async () => {
      throw new DomainError("unavailable", "statement_not_ready", "not ready");
    });
    const response = await server.get();
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, "statement_not_ready"]);
  });

  test("GET /payments/statement closes the connection before the end of the chunked body when the RPC for a later page fails", async () => {
    await using server = await start(async (page) => {
      if (page === 2) throw new DomainError("unavailable", "service_down", "not available");
      return [aLine(page)];
    });
    await using client = new RawClient(server.port);
    await client.write(getHeadOf(server.key));
    await client.waitUntilClosed();
    expect(client.statuses).toEqual(["200"]);
    expect(client.text.match(/"amount"/g)).toHaveLength(2);
    expect(client.text).not.toMatch(/\r\n0\r\n\r\n$/);
    await expect((async () => (await server.get()).text())()).rejects.toThrow();
  });

  test("GET /payments/statement closes the connection before the end of the statement when the key is revoked", async () => {
    const { promise: revoked, resolve: reportRevoked } = Promise.withResolvers<void>();
    await using server = await start(
      async (page) => {
        if (page === 1) await revoked;
        return [aLine(page)];
      },
      { leaseMs: 0 },
    );
    const response = await server.get();
    expect(response.status).toBe(200);
    server.key.revoke();
    reportRevoked();
    await expect(response.text()).rejects.toThrow();
    expect(server.countCalls()).toBeLessThanOrEqual(3);
  });

  test("GET /payments/statement reads only a few pages ahead of a slow caller, and releases the counted bytes when the caller disconnects", async () => {
    await using server = await start(async () => longPage);
    await using client = new RawClient(server.port, { reads: false });
    await client.write(getHeadOf(server.key));
    let calls = 0;
    // The operating system buffers the first megabytes of the response.
    await eventually(async () => {
      const previousCalls = calls;
      calls = server.countCalls();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(calls).toBeGreaterThan(2);
      expect(calls).toBe(previousCalls);
    });
    expect(calls).toBeLessThan(100);
    expect(server.gateway.bytes.countOf(totalKey)).toBe(4 * 1024 * 1024);
    client.socket.destroy();
    await eventually(() => expect(server.gateway.bytes.countOf(totalKey)).toBe(0));
    const callsAtEnd = server.countCalls();
    await new Promise((resolve) => setTimeout(resolve, 300));
    // The prefetch of one page may have been in flight.
    expect(server.countCalls()).toBeLessThanOrEqual(callsAtEnd + 1);
  });

  // After a disconnect, Node reports a request as aborted only if the request has no body.
  test.each([
    ["without a body", ""],
    ["with a body", "body"],
  ])(
    "the gateway logs no error if the caller of GET /payments/statement %s disconnects before the first page",
    async (_, body) => {
      const { promise: disconnected, resolve: reportDisconnected } = Promise.withResolvers<void>();
      const lines: string[] = [];
      const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
      await using server = await start(
        async () => {
          await disconnected;
          return [aLine(0)];
        },
        { logger },
      );
      await using client = new RawClient(server.port);
      await client.write(getHeadOf(server.key, body));
      await eventually(() => expect(server.countCalls()).toBe(1));
      client.socket.destroy();
      await eventually(() => expect(server.gateway.bytes.countOf(totalKey)).toBe(0));
      reportDisconnected();
      // The gateway handles the response to the first call before the response to this later call.
      const response = await server.get();
      await response.body?.cancel();
      expect(lines).toEqual([]);
    },
  );

  test("HEAD /payments/statement returns the headers and reads one page", async () => {
    await using server = await start(async (page) => [aLine(page)]);
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "HEAD", headers: server.key.headers });
    expect([response.status, response.headers.get("x-statement-until")]).toEqual([200, "2026-11-25T10:00:00.123Z"]);
    expect(server.countCalls()).toBe(1);
  });

  test("a stopping gateway closes the connection of an unfinished GET /payments/statement after RESPONSE_STALL_MS", async () => {
    await using server = await start(async (page) => [aLine(page)], { connectionBounds: { stallMs: 200 } });
    const response = await server.get();
    const reading = response.text();
    await eventually(() => expect(server.countCalls()).toBeGreaterThan(5));
    await Promise.all([server.gateway.app.close(), expect(reading).rejects.toThrow()]);
  });

  test("GET /payments/statement returns 429 for a third concurrent statement of a business", async () => {
    await using server = await start(async () => longPage);
    const openStatements = [await server.get(), await server.get()];
    const rejected = await server.get();
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "5"]);
    const otherKey = server.gateway.aKey();
    const otherResponse = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: otherKey.headers });
    expect(otherResponse.status).toBe(200);
    await openStatements[0]?.body?.cancel();
    await eventually(async () => {
      const response = await server.get();
      await response.body?.cancel();
      expect(response.status).toBe(200);
    });
    await Promise.all([otherResponse, openStatements[1]].map((response) => response?.body?.cancel()));
  });

  test("the gateway reads the pages of GET /payments/statement at the rate of costly lists", async () => {
    let nowMs = 0;
    await using server = await start(async () => [aLine(0)], {
      limits: { searchPerSecond: 20 },
      connectionBounds: { stallMs: 100 },
      nowMs: () => nowMs,
    });
    const response = await server.get();
    const reading = response.text().catch(() => {});
    // The gateway reads one page for each of the 40 tokens of the burst.
    await eventually(async () => expect(server.countCalls()).toBe(40));
    nowMs += 1_000;
    await eventually(async () => expect(server.countCalls()).toBe(60));
    nowMs += 50;
    await eventually(async () => expect(server.countCalls()).toBe(61));
    await Promise.all([server.gateway.app.close(), reading]);
  });

  test("all GET and HEAD requests for statements of a business share one limit of pages, and the first page of a GET waits for a token", async () => {
    let nowMs = 0;
    await using server = await start([[aLine(0)], [aLine(1)]], { limits: { searchPerSecond: 2 }, nowMs: () => nowMs });
    expect((await (await server.get()).text()).match(/"amount"/g)).toHaveLength(2);
    for (let i = 0; i < 2; i++) await fetch(`http://127.0.0.1:${server.port}${path}`, { method: "HEAD", ...server.key });
    expect(server.countCalls()).toBe(4);

    const pending = server.get();
    await eventually(() => expect(server.gateway.bytes.countOf(totalKey)).toBe(4 * 1024 * 1024));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.countCalls()).toBe(4);
    nowMs += 500;
    const response = await pending;
    expect([response.status, server.countCalls()]).toEqual([200, 5]);
    nowMs += 500;
    expect((await response.text()).match(/"amount"/g)).toHaveLength(2);
  });

  test("the gateway reads no page for a caller of GET /payments/statement that disconnects during the wait for a token", async () => {
    let nowMs = 0;
    await using server = await start(async () => [aLine(0)], {
      limits: { searchPerSecond: 20 },
      connectionBounds: { stallMs: 100 },
      nowMs: () => nowMs,
    });
    const open = await server.get();
    const reading = open.text().catch(() => {});
    await eventually(async () => expect(server.countCalls()).toBe(40));
    await using client = new RawClient(server.port);
    await client.write(getHeadOf(server.key));
    await eventually(() => expect(server.gateway.bytes.countOf(totalKey)).toBe(8 * 1024 * 1024));
    client.socket.destroy();
    await eventually(() => expect(server.gateway.bytes.countOf(totalKey)).toBe(4 * 1024 * 1024));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.countCalls()).toBe(40);
    nowMs += 1_000;
    await eventually(async () => expect(server.countCalls()).toBe(60));
    await Promise.all([server.gateway.app.close(), reading]);
  });
});
