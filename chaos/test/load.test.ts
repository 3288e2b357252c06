import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { sendLoad } from "../src/load/send-load.ts";

test("sendLoad returns the number of responses for each status, and the number of rejections without Retry-After", async () => {
  let responses = 0;
  const server = createServer((_request, response) => {
    const variant = responses++ % 3;
    if (variant === 0) return response.end();
    response.writeHead(503, variant === 1 ? { "retry-after": "1" } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outcome = await sendLoad({
    url,
    requests: [{ method: "GET", path: "/", headers: {} }],
    perSecond: 300,
    atOnceMax: 50,
    seconds: 1,
  });
  server.closeAllConnections();
  server.close();
  const { statuses, withoutRetryAfter, unsent, errors } = outcome;
  expect(errors).toEqual([]);
  expect((statuses["200"] ?? 0) + (statuses["503"] ?? 0)).toBe(responses);
  expect(responses + unsent).toBeGreaterThan(100);
  expect(withoutRetryAfter).toBe(Math.floor(responses / 3));
});
