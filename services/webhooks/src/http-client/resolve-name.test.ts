import { afterAll, beforeAll, expect, test } from "vitest";
import { startNameServer } from "../../test/name-server.ts";
import { createNameResolver } from "./resolve-name.ts";

const fourBytes = [93, 184, 215, 14];
let server: Awaited<ReturnType<typeof startNameServer>>;
let resolve: ReturnType<typeof createNameResolver>;
beforeAll(async () => {
  server = await startNameServer({
    "both.test": [fourBytes, [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    "four.test": [fourBytes],
  });
  resolve = createNameResolver([server.address]);
});
afterAll(() => server[Symbol.asyncDispose]());

const fourAddress = { address: "93.184.215.14", family: 4 };

test("the webhook name resolver returns the IPv4 and IPv6 addresses of a host name", async () => {
  expect(await resolve("both.test")).toEqual([fourAddress, { address: "2606:2800::1", family: 6 }]);
  expect(await resolve("four.test")).toEqual([fourAddress]);
});

test("the webhook name resolver rejects an unknown host name with ENOTFOUND", async () => {
  await expect(resolve("unknown.test")).rejects.toMatchObject({ code: "ENOTFOUND" });
});

test.each(["localhost", "LOCALHOST.", "a.localhost"])(
  "the webhook name resolver resolves %s to the loopback address without a query to a name server",
  async (host) => {
    const queriesBefore = server.queries.length;
    expect(await resolve(host)).toEqual([{ address: "127.0.0.1", family: 4 }]);
    expect(server.queries).toHaveLength(queriesBefore);
  },
);

test("the webhook name resolver resolves a host name while 50 other queries get no response", async () => {
  let isWaiting = true;
  const pending = Array.from({ length: 50 }, (_, i) => resolve(`silent${i}.test`).catch(() => []));
  const firstResult = Promise.race(pending).then(() => {
    isWaiting = false;
  });
  expect(await resolve("four.test")).toEqual([fourAddress]);
  expect(isWaiting).toBe(true);
  await firstResult;
});
