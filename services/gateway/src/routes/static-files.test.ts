import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const get = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });
const largeFiles = [
  "/docs/reference.js",
  "/openapi.json",
  "/docs/guide",
  "/docs/guide/payments",
  "/docs/search.js",
  "/docs/search.json",
  "/problems",
  "/llms.txt",
];

describe.each(largeFiles)("GET %s", (url) => {
  test(`GET ${url} returns the file uncompressed, with br or with gzip, according to the header Accept-Encoding`, async () => {
    const plain = await get(url);
    const brotli = await get(url, { "accept-encoding": "gzip, deflate, br" });
    const gzipped = await get(url, { "accept-encoding": "gzip;q=1.0, br;q=0" });
    expect([plain, brotli, gzipped].map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "br", "gzip"]);
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(gunzipSync(gzipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    for (const { headers } of [plain, brotli, gzipped]) expect(headers["vary"]).toBe("Accept-Encoding");
  });

  test(`GET ${url} returns 304 for the ETag of the requested encoding, and 200 for the ETag of another encoding`, async () => {
    const brotli = await get(url, { "accept-encoding": "br" });
    const etag = String(brotli.headers["etag"]);
    const notModified = await get(url, { "accept-encoding": "br", "if-none-match": `"other", W/${etag}` });
    expect([notModified.statusCode, notModified.rawPayload.length, notModified.headers["etag"]]).toEqual([304, 0, etag]);
    expect((await get(url, { "if-none-match": etag })).statusCode).toBe(200);
  });
});

test("the gateway sends a small static file uncompressed", async () => {
  const { statusCode, headers } = await get("/docs/start.js", { "accept-encoding": "br, gzip" });
  expect([statusCode, headers["content-encoding"]]).toEqual([200, undefined]);
});

test("the gateway does not count the bytes of a static file towards the byte limit of the network", async () => {
  await using boundedGateway = await startTestGateway({ byteBounds: { perNetwork: 1_000 } });
  const response = await boundedGateway.app.inject("/docs/reference.js");
  expect([response.statusCode, response.rawPayload.length > 1_000_000]).toEqual([200, true]);
});
