import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { forTenant } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { createHttpCalls } from "./http-calls.ts";

const [businessId, otherBusinessId] = ["019a0000-0000-7000-8000-000000000001", "019a0000-0000-7000-8000-000000000002"];

test("HttpCalls.call sends a business's call while 40 calls of another business are in progress at a slow provider", async () => {
  const waiting: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/fast") response.end("{}");
    else waiting.push(request.url ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => void server.close());
  const http = stack.use(createHttpCalls({ responseBytesMax: 1_000, timeoutMs: 60_000 }));
  stack.defer(() => server.closeAllConnections());
  const call = (tenant: string, path: string, timeoutMs = 60_000) =>
    forTenant(tenant, () =>
      http.call({
        operation: "test",
        method: "GET",
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
        headers: {},
        timeoutMs,
      }),
    );

  const slowCalls = Array.from({ length: 40 }, () => call(businessId, "/slow"));
  await eventually(() => expect(waiting).toHaveLength(16));
  expect(await call(otherBusinessId, "/fast")).toMatchObject({ status: 200, content: {} });
  expect(await call(businessId, "/fast", 50)).toEqual({
    status: undefined,
    reason: "no connection became free before the timeout",
  });
  expect(waiting).toHaveLength(16);

  // When calls end, waiting calls get their slots.
  server.closeAllConnections();
  await eventually(() => expect(waiting).toHaveLength(32));
  server.closeAllConnections();
  await eventually(() => expect(waiting).toHaveLength(40));
  server.closeAllConnections();
  const results = await Promise.all(slowCalls);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set([undefined]));
});
