import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@amana/dev-env/eventually";
import { type ServiceName, serviceNames } from "@amana/dev-env/services";
import { labelsOf } from "@amana/runtime";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSeries } from "../../src/metric-series.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, anOrder, aPaidPayment, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** Labels that Node's metrics and the Prometheus client define. */
const foreignLabels: Readonly<Record<string, readonly string[]>> = { kind: ["major", "minor", "incremental", "weakcb"] };
const types = new Map<string, string>();
const helps = new Map<string, string>();

interface Sample {
  readonly service: ServiceName;
  /** Name of the metric, without _bucket, _sum or _count. */
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system);
  // Imports the code of all services, because this code defines the permitted label values.
  for (const name of serviceNames)
    await import(join(root, "services", name, "src", name === "sandbox" ? "app.ts" : "service.ts"));
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

async function scrape(service: ServiceName): Promise<Sample[]> {
  const response = await request(testSystem.system.metricsUrls[service]);
  const text = await response.body.text();
  for (const [, name = "", help = ""] of text.matchAll(/^# HELP (\S+) (.*)$/gm)) helps.set(name, help);
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\S+) (.*)$/gm)) types.set(name, type);
  return parseSeries(text).map(({ name, labels, value }) => {
    const metric = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    return { service, metric, labels, value };
  });
}

const scrapeAll = async () => (await Promise.all(serviceNames.map(scrape))).flat();
const sumSamples = (samples: readonly Sample[], metric: string, labels: Readonly<Record<string, string>> = {}) =>
  samples
    .filter(
      (sample) => sample.metric === metric && Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Returns the patterns of all routes in Fastify's form, including routes that the OpenAPI document
 * does not contain.
 */
async function readKnownRoutes(): Promise<Set<string>> {
  const { paths } = JSON.parse(await readFile(join(root, "docs", "api", "openapi.json"), "utf8")) as OpenApi;
  const documented = Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ":$1"));
  const hidden = ["/healthz", "/readyz", "/problems", "/problems/:code", "/callbacks/kyc", "/docs", "/docs/", "/docs/*", "none"];
  return new Set([...documented, ...hidden]);
}

/** Sends hundreds of requests with invented paths, ids, keys and headers. Returns these values. */
async function sendUnknownValues(): Promise<string[]> {
  const { paths } = JSON.parse(await readFile(join(root, "docs", "api", "openapi.json"), "utf8")) as OpenApi;
  const unknownValues = [randomUUID(), randomUUID(), "zz-made-up", "sk_test_madeup0000", 'x"y', "…"];
  const addresses = Object.keys(paths).flatMap((path) =>
    unknownValues.map((value) => path.replaceAll(/\{\w+\}/g, encodeURIComponent(value))),
  );
  const otherAddresses = unknownValues.flatMap((value) => [
    `/${encodeURIComponent(value)}`,
    `/api/v1/${encodeURIComponent(value)}`,
    `/docs/${encodeURIComponent(value)}`,
  ]);
  const keys = [business.key, "sk_test_madeup0000", ""];
  const methods = ["GET", "PUT", "OPTIONS", "DELETE"] as const;
  const send = async (address: string, i: number) => {
    const headers = { authorization: `Bearer ${keys[i % 3]}`, "x-request-id": "zz-made-up-request", "user-agent": "zz-made-up" };
    const response = await request(`${testSystem.system.gatewayUrl}${address}?zz-made-up=1`, {
      method: methods[i % 4] ?? "GET",
      headers,
    });
    await response.body.dump();
  };
  for (const [i, address] of [...addresses, ...otherAddresses].entries()) await send(address, i);
  return unknownValues;
}

test("a service exports fewer than 5 000 time series, and no label value from a request, even after requests with arbitrary values", async () => {
  const payment = await aPaidPayment(testSystem.system, business);
  await business.call("POST", `/api/v1/payments/${payment.id}/refund`);
  await business.call("POST", "/api/v1/kyc/applications", { external_id: "zz-made-up" });
  await business.receiver.next("PAYMENT_REFUNDED", payment.id, 90_000);
  await sendUnknownValues();
  const samplesBefore = await scrapeAll();
  const unknownValues = await sendUnknownValues();
  const samples = await scrapeAll();
  expect(sumSamples(samples, "amana_http_requests_total")).toBeGreaterThan(500);

  const routes = await readKnownRoutes();
  const topics = ["payments.v1", "kyc.v1", "audit.v1"];
  const codes =
    /^(ok|canceled|unknown|invalid_argument|deadline_exceeded|not_found|already_exists|permission_denied|resource_exhausted|failed_precondition|aborted|out_of_range|unimplemented|internal|unavailable|data_loss|unauthenticated)$/;
  const kinds: Readonly<Record<string, (value: string) => boolean>> = {
    "the routes of the API, or none for an unknown path": (value) => routes.has(value),
    "the HTTP status codes": (value) => /^[1-5]\d\d$/.test(value),
    "the RPCs in the form Service/Method": (value) => /^[A-Z]\w+Service\/[A-Z]\w+$|^Health\/Check$/.test(value),
    "the Connect error codes, or ok": (value) => codes.test(value),
    "the called services, or events for direct delivery": (value) => [...serviceNames, "events"].includes(value),
    "the event topics": (value) => topics.includes(value),
    "the RPCs, the consumed topics and the background tasks": (value) =>
      /^([A-Z]\w+Service\/[A-Z]\w+|consume (payments|kyc|audit)\.v1|[a-zA-Z-]{3,30})$/.test(value),
    "the background tasks": (value) => /^[a-zA-Z-]{3,30}$/.test(value),
  };
  const unexpected = samples.flatMap(({ metric, labels }) =>
    Object.entries(labels).flatMap(([label, value]) => {
      const permitted = label === "le" ? /^(\+Inf|[\d.]+)$/ : (labelsOf.get(metric)?.[label] ?? foreignLabels[label]);
      const isKnown =
        permitted instanceof RegExp
          ? permitted.test(value)
          : typeof permitted === "string"
            ? kinds[permitted]?.(value)
            : permitted?.includes(value);
      return isKnown ? [] : [`${metric}{${label}="${value}"}`];
    }),
  );
  expect(unexpected).toEqual([]);
  const text = JSON.stringify(samples);
  for (const value of [...unknownValues, business.id, business.key, payment.id, payment.orderId, "zz-made-up"])
    expect(text).not.toContain(value);
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);

  // Compares only methods and routes, because a busy machine returns status 503 for some requests.
  const listRoutes = (counted: readonly Sample[]) =>
    new Set(
      counted
        .filter(({ metric }) => metric === "amana_http_requests_total")
        .map(({ labels }) => `${labels["method"]} ${labels["route"]}`),
    );
  expect(listRoutes(samples)).toEqual(listRoutes(samplesBefore));
  for (const service of serviceNames) {
    const count = samples.filter((sample) => sample.service === service).length;
    expect({ service, count, isBounded: count < (service === "gateway" ? 5_000 : 1_000) }).toMatchObject({ isBounded: true });
  }
});

test("the metrics of each service count the operations of that service", async () => {
  const { body } = await business.call("POST", "/api/v1/payments", anOrder);
  await eventually(async () => {
    const samples = await scrapeAll();
    expect(
      sumSamples(samples, "amana_http_requests_total", { method: "POST", route: "/api/v1/payments", status: "201" }),
    ).toBeGreaterThanOrEqual(2);
    expect(sumSamples(samples, "amana_payments_unconfirmed", { known: "open" })).toBeGreaterThanOrEqual(1);
    expect(sumSamples(samples, "amana_kyc_applications", { status: "created" })).toBe(1);
    expect(sumSamples(samples, "amana_row_gauges_up")).toBe(5);
    expect(sumSamples(samples, "amana_outbox_relay_active")).toBe(4);
  });
  expect(body["status"]).toBe("PENDING");
  const samples = await scrapeAll();
  expect(sumSamples(samples, "amana_refund_steps_total", { step: "accept" })).toBe(1);
  expect(sumSamples(samples, "amana_payment_events_total", { type: "payment_refunded" })).toBe(1);
  expect(sumSamples(samples, "amana_delivery_answers_total", { answer: "2xx" })).toBeGreaterThanOrEqual(2);
  expect(samples.some(({ metric }) => metric === "amana_delivery_first_attempt_delay_seconds")).toBe(true);
  expect(sumSamples(samples, "amana_resolved_keys_total", { state: "live" })).toBeGreaterThan(0);
});

test("docs/metrics.md lists each exported metric with its type, labels and meaning (`vitest -u` updates the file)", async () => {
  await scrapeAll();
  const file = join(root, "docs", "metrics.md");
  const formatLabels = (name: string) => {
    const labels = labelsOf.get(name) ?? (name === "nodejs_gc_duration_seconds" ? foreignLabels : {});
    return Object.entries(labels).map(
      ([label, values]) => `${label}: ${typeof values === "string" ? values : values.join(", ")}`,
    );
  };
  const rows = [...types.keys()]
    .toSorted()
    .map((name) => `| \`${name}\` | ${types.get(name)} | ${formatLabels(name).join("; ")} | ${helps.get(name)} |`);
  const [text = ""] = (await readFile(file, "utf8")).split("| Name |");
  await expect(`${text}| Name | Type | Labels | Meaning |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`).toMatchFileSnapshot(
    file,
  );
});
