import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { readText } from "../src/values/read-body.ts";

type Value = { readonly stringValue: string } | { readonly intValue: string };
type Attributes = readonly { readonly key: string; readonly value: Value }[];

/** A received span. `kind` is a name such as "server", where OTLP has a number. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly isFailed: boolean;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: Attributes;
        readonly status: { readonly code?: number };
      }[];
    }[];
  }[];
}

const kinds = ["", "internal", "server", "client", "producer", "consumer"];

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Received bodies of accepted requests. */
  readonly bodies: string[];
  /** Received headers of all requests. */
  readonly headers: IncomingHttpHeaders[];
  /** Number of accepted connections. */
  connections: number;
  /** Status of the responses, or "hang" for no response. */
  responseStatus: number | "hang";
  /** Body of the responses. */
  responseBody: string;
}

/** Starts a receiver of spans by OTLP over HTTP with JSON, over TLS if there is a certificate. */
export async function startCollector(tls?: { cert: string; key: string }): Promise<Collector> {
  const server = tls ? createTlsServer(tls) : createServer();
  server.on("request", async (request, response) => {
    collector.headers.push(request.headers);
    const text = await readText(request, 64 * 1024 * 1024);
    if (collector.responseStatus === "hang") return;
    if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end();
    response.writeHead(collector.responseStatus, { "content-type": "application/json" }).end(collector.responseBody);
    if (collector.responseStatus !== 200) return;
    collector.bodies.push(text);
    collector.spans.push(...read(JSON.parse(text) as Body));
  });
  server.on("connection", () => {
    collector.connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const collector: Collector = {
    url: `${tls ? "https" : "http"}://localhost:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    headers: [],
    connections: 0,
    responseStatus: 200,
    responseBody: "{}",
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return collector;
}

function read({ resourceSpans }: Body): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: kinds[span.kind] ?? "",
        startMs: millis(span.startTimeUnixNano),
        endMs: millis(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        isFailed: span.status.code === 2,
      })),
    );
  });
}

/**
 * Converts nanoseconds to milliseconds. Drops the last three digits first, because a double cannot
 * represent a time in nanoseconds exactly.
 */
const millis = (nanos: string): number => Number(nanos.slice(0, -3)) / 1_000;

const valuesOf = (attributes: Attributes) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, "intValue" in value ? Number(value.intValue) : value.stringValue]));
