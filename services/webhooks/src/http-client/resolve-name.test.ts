import { afterAll, beforeAll, expect, test } from "vitest";
import { startNameServer } from "../../test/name-server.ts";
import { createNameResolver, ResponseTooLarge } from "./resolve-name.ts";

const fourBytes = [93, 184, 215, 14];
let server: Awaited<ReturnType<typeof startNameServer>>;
let resolve: ReturnType<typeof createNameResolver>;
beforeAll(async () => {
  server = await startNameServer({
    "both.test": [fourBytes, [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    "four.test": [fourBytes],
    "old.test": [fourBytes],
    "forged.test": [fourBytes],
    "long.test": [fourBytes],
    "full.test": Array.from({ length: 40 }, (_, i) => [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, i]),
  });
  resolve = createNameResolver([server.address]);
});
afterAll(() => server[Symbol.asyncDispose]());

const fourAddress = { address: "93.184.215.14", family: 4 };

test("the webhook name resolver returns the IPv4 and IPv6 addresses of a host name", async () => {
  expect(await resolve("both.test")).toEqual([fourAddress, { address: "2606:2800::1", family: 6 }]);
  expect(await resolve("four.test")).toEqual([fourAddress]);
});

test("the webhook name resolver returns no addresses for an unknown host name", async () => {
  expect(await resolve("unknown.test")).toEqual([]);
});

test.each(["a..test", ".test", "", `${"a".repeat(64)}.test`])(
  'the webhook name resolver rejects the host name "%s" with ENOTFOUND without a query',
  async (host) => {
    const queriesBefore = server.queries.length;
    await expect(resolve(host)).rejects.toMatchObject({ code: "ENOTFOUND" });
    expect(server.queries).toHaveLength(queriesBefore);
  },
);

test("the webhook name resolver queries the next name server if the first one cannot be reached", async () => {
  const closed = await startNameServer({});
  await closed[Symbol.asyncDispose]();
  // The kernel refuses to connect to the broadcast address.
  const servers = [closed.address, "255.255.255.255", server.address];
  expect(await createNameResolver(servers)("four.test")).toEqual([fourAddress]);
});

test("the webhook name resolver rejects a host name with EAI_AGAIN after two failed queries for each address family", async () => {
  const queriesBefore = server.queries.length;
  await expect(resolve("failing.test")).rejects.toMatchObject({ code: "EAI_AGAIN" });
  expect(server.queries).toHaveLength(queriesBefore + 4);
});

test("the webhook name resolver rejects each host name with EAI_AGAIN if no name server is configured", async () => {
  await expect(createNameResolver([])("four.test")).rejects.toMatchObject({ code: "EAI_AGAIN" });
});

test("the webhook name resolver queries the name server that responded first for later names", async () => {
  await using other = await startNameServer({ "silent.test": [fourBytes] }, { hasFaults: false });
  const resolveWithBoth = createNameResolver([server.address, other.address]);
  expect(await resolveWithBoth("silent.test")).toEqual([fourAddress]);
  const queriesBefore = server.queries.length;
  expect(await resolveWithBoth("silent.test")).toEqual([fourAddress]);
  expect(server.queries).toHaveLength(queriesBefore);
});

test("the webhook name resolver sends a second query without EDNS if a name server does not accept EDNS", async () => {
  expect(await resolve("old.test")).toEqual([fourAddress]);
});

test("the webhook name resolver ignores responses with another id or question, and messages that are no responses", async () => {
  expect(await resolve("forged.test")).toEqual([fourAddress]);
});

test("the webhook name resolver returns 40 IPv6 addresses of a host name", async () => {
  expect(await resolve("full.test")).toHaveLength(40);
});

test("the webhook name resolver queries the next name server if the first one truncates its response", async () => {
  await using other = await startNameServer({ "truncated.test": [fourBytes] }, { hasFaults: false });
  expect(await createNameResolver([server.address, other.address])("truncated.test")).toEqual([fourAddress]);
});

test.each(["truncated.test", "long.test"])(
  "the webhook name resolver rejects %s after one query for each address family, because the response is truncated or too large",
  async (host) => {
    const queriesBefore = server.queries.length;
    await expect(resolve(host)).rejects.toBeInstanceOf(ResponseTooLarge);
    expect(server.queries).toHaveLength(queriesBefore + 2);
  },
);

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
