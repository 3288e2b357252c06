import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { counter, gauge, histogram, onScrape } from "./metrics.ts";
import { serveMetrics } from "./metrics-server.ts";

let isReady = false;
const { url } = await serveMetrics({ host: "127.0.0.1", port: 0 }, async () => isReady);
const scrape = async () => {
  const response = await fetch(url);
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};
const linesOf = (text: string, name: string) => text.split("\n").filter((line) => line.startsWith(name));

test("serveMetrics exports unused counters as 0, omits gauges that are not set, and returns status 404 for other paths", async () => {
  const takenCounter = counter({ name: "test_taken_total", help: "Taken", labels: { outcome: ["done", "failed"] } });
  const freeCounter = counter({ name: "test_free_total", help: "Free", labels: { route: "the routes" } });
  const age = gauge({ name: "test_age_seconds", help: "Age" });
  const waits = histogram({ name: "test_wait_seconds", help: "Wait", labels: { task: "the tasks" }, buckets: [1, 2] });
  const initial = await scrape();
  expect([initial.status, initial.type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(linesOf(initial.text, "test_")).toEqual(['test_taken_total{outcome="done"} 0', 'test_taken_total{outcome="failed"} 0']);
  takenCounter.inc({ outcome: "done" });
  freeCounter.inc({ route: "/a" });
  age.set(3);
  waits.observe({ task: "one" }, 1.5);
  const { text } = await scrape();
  expect(linesOf(text, "test_taken")).toContain('test_taken_total{outcome="done"} 1');
  expect(linesOf(text, "test_free")).toEqual(['test_free_total{route="/a"} 1']);
  expect(linesOf(text, "test_age")).toEqual(["test_age_seconds 3"]);
  expect(linesOf(text, "test_wait_seconds_bucket")).toEqual([
    'test_wait_seconds_bucket{le="1",task="one"} 0',
    'test_wait_seconds_bucket{le="2",task="one"} 1',
    'test_wait_seconds_bucket{le="+Inf",task="one"} 1',
  ]);
  expect((await fetch(`${url}/x`)).status).toBe(404);
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(404);
});

test("serveMetrics reads each gauge once for concurrent scrapes, and responds even if a read fails or hangs", async () => {
  const read = gauge({ name: "test_read", help: "Read" });
  let readings = 0;
  using _fails = onScrape(() => {
    throw new Error("simulated failure");
  });
  using _hangs = onScrape(() => new Promise(() => {}));
  using _reads = onScrape(async () => read.set(++readings));
  const texts = await Promise.all([scrape(), scrape(), scrape()]);
  for (const { text } of texts) expect(linesOf(text, "test_read")).toEqual(["test_read 1"]);
});

test("serveMetrics returns status 200 for /livez, and status 503 for /readyz until the service is ready", async () => {
  const probe = async (path: string) => (await fetch(new URL(path, url))).status;
  expect([await probe("/livez"), await probe("/readyz")]).toEqual([200, 503]);
  isReady = true;
  expect([await probe("/livez"), await probe("/readyz")]).toEqual([200, 200]);
});

test("serveMetrics returns status 200 for /livez while 40 idle connections are open", async () => {
  const { hostname, port } = new URL(url);
  const closed: unknown[] = [];
  const idle = Array.from({ length: 40 }, () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {}).on("close", () => closed.push(socket));
    return socket;
  });
  try {
    await Promise.all(idle.map((socket) => socket.connecting && once(socket, "connect")));
    // A probe opens a new connection, too.
    const [response] = (await once(get(new URL("/livez", url), { agent: false }), "response")) as [IncomingMessage];
    expect(response.resume().statusCode).toBe(200);
    await expect.poll(() => closed.length).toBeGreaterThanOrEqual(40 - 16);
  } finally {
    for (const socket of idle) socket.destroy();
  }
});
