import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNameResolver } from "./resolve-name.ts";

const [typeA, typeAaaa] = [1, 28];
const records: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  "both.test": { [typeA]: [93, 184, 215, 14], [typeAaaa]: [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  "four.test": { [typeA]: [93, 184, 215, 14] },
};
const server = createSocket("udp4");
let queryCount = 0;

/** Responds to a DNS query with the question and at most one record (RFC 1035, section 4). */
server.on("message", (query, { port }) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join(".").toLowerCase();
  queryCount += 1;
  if (name.startsWith("silent")) return;
  const type = query.readUInt16BE(at + 1);
  const data = records[name]?.[type];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(records[name] ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(data ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const record = data ? [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data] : [];
  server.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(record)]), port, "127.0.0.1");
});

let resolve: ReturnType<typeof createNameResolver>;
beforeAll(async () => {
  await once(server.bind(0, "127.0.0.1"), "listening");
  resolve = createNameResolver([`127.0.0.1:${server.address().port}`]);
});
afterAll(() => new Promise<void>((done) => server.close(() => done())));

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
    const queriesBefore = queryCount;
    expect(await resolve(host)).toEqual([{ address: "127.0.0.1", family: 4 }]);
    expect(queryCount).toBe(queriesBefore);
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
