import { escapeText } from "@amana/pages";
import { DomainError } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";
import { problemCatalogue } from "../problem-catalogue.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ logger: createLogger("test", "silent") });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const linksIn = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => link as string);

describe("return from the card processor", () => {
  const returnFromProcessor = (method: "GET" | "POST", headers: Record<string, string> = {}, payload?: string | Buffer) =>
    gateway.app.inject({
      method,
      url: "/api/v1/payments/return/some-token",
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
  const refuse = (error: Error) => {
    gateway.behaviour.payments.returnFromProcessor = async () => {
      throw error;
    };
  };
  const unknownPayment = new DomainError("not_found", "not_found", "There is no payment with this id. Check the id.");

  beforeEach(() => {
    gateway.behaviour.payments.returnFromProcessor = async () => ({ redirectUrl: "https://shop.example/paid?payment_id=1" });
  });

  test("the return route of payments requires no key and redirects with 303", async () => {
    for (const method of ["GET", "POST"] as const) {
      const response = await returnFromProcessor(method);
      expect([response.statusCode, response.headers["location"]]).toEqual([303, "https://shop.example/paid?payment_id=1"]);
      expect(response.headers["cache-control"]).toBe("no-store");
    }
    expect(gateway.received[0]).toMatchObject({
      rpc: "ReturnFromProcessor",
      request: { token: "some-token" },
      call: { caller: { role: "platform" } },
    });
  });

  test.each([
    ["application/x-www-form-urlencoded", "orderId=1&status=%zz"],
    ["application/json", "{"],
    ["multipart/form-data; boundary=x", "--x--"],
    ["text/plain", "anything"],
    ["", "anything"],
  ])("the return route of payments ignores the body of a POST with the content type %j", async (type, payload) => {
    expect((await returnFromProcessor("POST", { "content-type": type }, payload)).statusCode).toBe(303);
  });

  test.each([
    ["fr-DZ,fr;q=0.9", "fr", "ltr", "Lien de paiement inconnu"],
    ["ar", "ar", "rtl", "رابط دفع غير معروف"],
    ["de, en;q=0.5, fr;q=0.4", "en", "ltr", "Unknown payment link"],
    ["en;q=0, ar-DZ;q=0.1", "ar", "rtl", "رابط دفع غير معروف"],
    ["de", "fr", "ltr", "Lien de paiement inconnu"],
    ["", "fr", "ltr", "Lien de paiement inconnu"],
  ])(
    "the return route of payments with an unknown token and Accept-Language %j shows a page in this language",
    async (acceptLanguage, language, direction, title) => {
      refuse(unknownPayment);
      const response = await returnFromProcessor("GET", { "accept-language": acceptLanguage });
      expect(response.statusCode).toBe(404);
      expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(response.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
      expect(response.headers["referrer-policy"]).toBe("no-referrer");
      expect(response.body).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(response.body).toContain(`<h1>${title}</h1>`);
      expect(response.body).not.toMatch(/<script|https?:\/\/(?!www\.w3)/);
    },
  );

  test("the return route of payments shows an error page for status 503, 500, 413 and 404", async () => {
    const headers = { "accept-language": "en" };
    refuse(new DomainError("unavailable", "service_unavailable", "The service is unavailable."));
    const unavailable = await returnFromProcessor("GET", headers);
    expect([unavailable.statusCode, unavailable.headers["retry-after"]]).toEqual([503, "1"]);
    expect(unavailable.body).toContain("<h1>One moment, please</h1>");
    refuse(new Error("secret"));
    const fault = await returnFromProcessor("GET", headers);
    expect(fault.statusCode).toBe(500);
    expect(fault.body).toContain("<h1>One moment, please</h1>");
    expect(fault.body).not.toContain("secret");
    const large = await returnFromProcessor("POST", { ...headers, "content-type": "text/plain" }, Buffer.alloc(65 * 1024));
    expect(large.statusCode).toBe(413);
    expect(large.body).toContain("<h1>Request not understood</h1>");
    const malformed = await gateway.app.inject({ method: "GET", url: "/api/v1/payments/return/%zz", headers });
    expect(malformed.statusCode).toBe(404);
    expect(malformed.body).toContain("<h1>Unknown payment link</h1>");
  });
});

test.each(["/pay/", "/receipts/", "/api/v1/payments/return/"].flatMap((prefix) => [`${prefix}%zz`, prefix]))(
  "the error page of an invalid or long path that begins with %s has fewer than 16 KiB",
  async (start) => {
    const response = await gateway.app.inject({ url: `${start}${"&'".repeat(4_000)}`, headers: { accept: "text/html" } });
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(response.rawPayload.length).toBeLessThan(16 * 1024);
  },
);

describe("health", () => {
  test("/healthz returns 200, and /readyz returns 200 while the services are reachable", async () => {
    expect((await gateway.app.inject("/healthz")).statusCode).toBe(200);
    // Repeats the request, because on a busy machine a service may respond too late.
    await eventually(async () => {
      const ready = await gateway.app.inject("/readyz");
      expect([ready.statusCode, ready.json()]).toEqual([200, { status: "ok" }]);
    });
  });
});

describe("/problems", () => {
  test("/problems/{code} has a page for every problem code", async () => {
    for (const code of Object.keys(problemCatalogue)) {
      const response = await gateway.app.inject(`/problems/${code}`);
      expect([code, response.statusCode, response.headers["content-type"]]).toEqual([code, 200, "text/html; charset=utf-8"]);
    }
  });

  test("/problems lists every problem code with status, advice and retry advice", async () => {
    const { body } = await gateway.app.inject("/problems");
    for (const [code, [title, , status]] of Object.entries(problemCatalogue)) {
      const [row] = body.match(new RegExp(`<tr><td><a href="/problems/${code}">.*`)) ?? [];
      expect(row).toContain(escapeText(title));
      expect(
        body
          .slice(0, body.indexOf(row ?? ""))
          .match(/<h2 id="(\d+)">/g)
          ?.at(-1),
      ).toBe(`<h2 id="${status}">`);
    }
    const retryAdviceOf = async (code: string) =>
      /Retry: (.*)<\/p>/.exec((await gateway.app.inject(`/problems/${code}`)).body)?.[1];
    expect(await retryAdviceOf("refund_outcome_unknown")).toMatch(/^Yes, after Retry-After, with the same Idempotency-Key/);
    expect(await retryAdviceOf("refund_in_progress")).toMatch(/^Yes, after Retry-After/);
    expect(await retryAdviceOf("processor_error")).toMatch(/^Not as it is/);
    expect(await retryAdviceOf("payment_not_refundable")).toMatch(/^No\./);
  });

  test("/problems/{code} returns 404 for an unknown code and for a property name of Object", async () => {
    for (const code of ["nothing", "constructor", "__proto__", "%3Cscript%3E"]) {
      expect((await gateway.app.inject(`/problems/${code}`)).statusCode).toBe(404);
    }
  });
});

describe("first page", () => {
  const getFirstPage = (accept: string, language = "en") =>
    gateway.app.inject({ url: "/", headers: { accept, "accept-language": language } });
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  test("the gateway's first page for programs other than browsers is JSON with the API's name, state and addresses", async () => {
    for (const accept of ["*/*", "application/json", ""]) {
      const response = await getFirstPage(accept);
      expect(response.headers["vary"]).toBe("accept, accept-language");
      expect([response.statusCode, response.json()]).toEqual([
        200,
        {
          name: "Amana",
          state: { status: "ok" },
          api: "/api/v1",
          guide: "/docs/guide",
          reference: "/docs",
          problems: "/problems",
          openapi: "/openapi.json",
          llms: "/llms.txt",
        },
      ]);
    }
  });

  test.each([
    ["fr-DZ", "fr", "ltr", "Tous les services fonctionnent."],
    ["ar", "ar", "rtl", "جميع الخدمات تعمل."],
    ["en", "en", "ltr", "All services are operational."],
  ])(
    "the gateway's first page is HTML for browsers, in the language of Accept-Language %j",
    async (acceptLanguage, language, direction, state) => {
      const page = await getFirstPage(browser, acceptLanguage);
      expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
      expect(page.body).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(page.body).toContain(state);
      expect(linksIn(page.body)).toEqual(["/docs/guide", "/docs", "/problems"]);
    },
  );

  test("the gateway's first page links to the configured sandbox and names unavailable services", async () => {
    await using gatewayWithSandbox = await startTestGateway({ sandboxUrl: "http://127.0.0.1:8090" });
    const page = await gatewayWithSandbox.app.inject({ url: "/", headers: { accept: browser } });
    expect(linksIn(page.body)).toContain("http://127.0.0.1:8090/");
    gatewayWithSandbox.readiness.stop();
    const pageResponse = await gatewayWithSandbox.app.inject({ url: "/", headers: { accept: browser } });
    const jsonResponse = await gatewayWithSandbox.app.inject("/");
    const unavailable = { status: "unavailable", missing: ["gateway"] };
    expect([jsonResponse.statusCode, jsonResponse.json().state]).toEqual([200, unavailable]);
    expect((await gatewayWithSandbox.app.inject("/readyz")).json()).toEqual(unavailable);
    expect(pageResponse.body).toContain("Indisponible en ce moment : \u2066gateway\u2069");
  });
});

describe("guide", () => {
  test("the guide lists all its pages, and every link leads to an existing page and anchor", async () => {
    const pages = linksIn((await gateway.app.inject("/docs/guide")).body).filter((link) => link.startsWith("/docs/guide/"));
    expect(pages.length).toBeGreaterThan(10);
    const ids = new Map<string, string>();
    const body = async (path: string) => {
      if (!ids.has(path)) {
        const response = await gateway.app.inject({ url: path, headers: { accept: "text/html" } });
        expect([path, response.statusCode]).toEqual([path, 200]);
        ids.set(path, response.body);
      }
      return ids.get(path) as string;
    };
    for (const page of ["/docs/guide", ...pages, "/problems", "/problems/rate_limited"]) {
      for (const link of linksIn(await body(page))) {
        if (link.startsWith("https://")) continue;
        const [linked, anchor] = link.split("#");
        const path = linked || page;
        if (anchor) expect(await body(path), `${page} links to ${link}`).toContain(` id="${anchor}"`);
        else await body(path);
      }
    }
  });

  test("the Content-Security-Policy of the guide permits scripts and connections only from its own origin, and permits no forms", async () => {
    const ownSources = " script-src 'self'; connect-src 'self';";
    const script = '<script type="module" src="/docs/search.js"></script>';
    for (const [url, sources, scripts] of [
      ["/docs/guide", ownSources, [script]],
      ["/docs/guide/webhooks", ownSources, [script]],
      ["/problems", "", []],
    ] as const) {
      const page = await gateway.app.inject(url);
      expect(String(page.headers["content-security-policy"]).replace(/'sha256-[^']+'/, "HASH")).toBe(
        `default-src 'none'; style-src HASH;${sources} base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      expect(page.body.match(/<script.*?<\/script>/g) ?? []).toEqual(scripts);
      expect(page.body).not.toMatch(/<img|<iframe|<form| style=| on\w+=|<!--/);
      expect(page.body.match(/<h1/g)?.length).toBe(1);
    }
  });

  test("the guide returns 404 for unknown names, and redirects a path with a trailing slash", async () => {
    for (const name of ["nothing", "..%2Findex", "index.html", "llms.txt", "%00"]) {
      expect((await gateway.app.inject(`/docs/guide/${name}`)).statusCode, name).toBe(404);
    }
    expect((await gateway.app.inject("/docs/guide/")).headers["location"]).toBe("/docs/guide");
  });

  test("/llms.txt lists the pages of the guide", async () => {
    const { headers, body } = await gateway.app.inject("/llms.txt");
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    const listed = [...body.matchAll(/\]\((.*?)\)/g)].map(([, path]) => path as string);
    expect(listed.length).toBeGreaterThan(12);
    for (const path of listed) expect((await gateway.app.inject(path)).statusCode, path).toBe(200);
  });
});

describe("reference", () => {
  test("the API reference loads all scripts from its own origin", async () => {
    const page = await gateway.app.inject("/docs");
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-security-policy"]).toMatch(/script-src 'self';/);
    const sources = [...page.body.matchAll(/src="([^"]+)"/g)].map(([, source]) => source as string);
    expect(sources.length).toBe(2);
    expect(sources.every((source) => source.startsWith("/docs/"))).toBe(true);
    for (const source of sources) {
      const script = await gateway.app.inject(source);
      expect([source, script.statusCode, script.headers["content-type"]]).toEqual([
        source,
        200,
        "text/javascript; charset=utf-8",
      ]);
    }
  });

  test("the API reference links to the guide, the problems and the first page", async () => {
    expect(new Set(linksIn((await gateway.app.inject("/docs")).body))).toEqual(
      new Set(["/", "/docs/guide", "/problems", "/openapi.json"]),
    );
  });

  test("the path /docs/ of the API reference redirects to /docs", async () => {
    const response = await gateway.app.inject("/docs/");
    expect([response.statusCode, response.headers["location"]]).toEqual([308, "/docs"]);
  });

  test("the OpenAPI document requires query parameters only for the list of API keys and for the statement", async () => {
    const document = (await gateway.app.inject("/openapi.json")).json();
    type Parameter = { in: string; name: string; required?: boolean };
    const operations = Object.values(document.paths as Record<string, Record<string, { parameters: Parameter[] }>>);
    const query = operations
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters }) => parameters.filter((parameter) => parameter.in === "query"));
    expect(query.length).toBeGreaterThan(15);
    expect(new Set(query.filter(({ required }) => required).map(({ name }) => name))).toEqual(
      new Set(["business_id", "from", "to"]),
    );
  });

  test("the OpenAPI document has a 404 response for each operation with an id in its path or query", async () => {
    const { paths } = (await gateway.app.inject("/openapi.json")).json();
    for (const list of ["kyc/applications", "beneficiaries", "accounts", "admin/api-keys"]) {
      expect(paths[`/api/v1/${list}`].get.responses, list).toHaveProperty("404");
    }
    expect(paths["/api/v1/events"].get.responses).not.toHaveProperty("404");
  });

  test("the OpenAPI document describes only routes under /api/v1/, and requires a key for all routes except the return routes", async () => {
    const document = (await gateway.app.inject("/openapi.json")).json();
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries(document.paths as Record<string, Record<string, { security?: unknown[] }>>).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(operations.length).toBeGreaterThan(20);
    expect(operations.every(({ path }) => path.startsWith("/api/v1/"))).toBe(true);
    expect(operations.filter(({ operation }) => operation.security?.length === 0).map(({ path }) => path)).toEqual([
      "/api/v1/payments/return/{token}",
      "/api/v1/payments/return/{token}",
    ]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(["bearer", "apiKey"]);
  });
});
