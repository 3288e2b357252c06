import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import type { CollectedSpan } from "@amana/runtime/test/collector";
import { request } from "undici";
import { stringify } from "yaml";

/** Path of an OpenTelemetry collector program with the OTLP receiver and the debug exporter. */
export const otelCollectorPath = process.env["TEST_OTEL_COLLECTOR"];

if (!otelCollectorPath) {
  process.stderr.write(
    "\nSKIPPED the check of spans in an OpenTelemetry collector. Set TEST_OTEL_COLLECTOR to the path of a collector.\n\n",
  );
}

/** Starts a collector, sends request bodies unchanged to it, and returns the spans it prints. */
export async function readByOtelCollector(bodies: readonly string[]): Promise<CollectedSpan[]> {
  const dir = await mkdtemp(join(tmpdir(), "amana-collector-"));
  const port = await freePort();
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { debug: { verbosity: "detailed", use_internal_logger: false } },
    service: {
      telemetry: { metrics: { level: "none" } },
      pipelines: { traces: { receivers: ["otlp"], exporters: ["debug"] } },
    },
  };
  await writeFile(join(dir, "collector.yaml"), stringify(config));
  const lines: string[] = [];
  const server = await spawnServer({
    command: otelCollectorPath ?? "",
    args: ["--config=collector.yaml"],
    cwd: dir,
    env: {},
    log: (line) => lines.push(line),
  });
  try {
    const post = async (body: string) => {
      const headers = { "content-type": "application/json" };
      const response = await request(`http://127.0.0.1:${port}/v1/traces`, { method: "POST", headers, body });
      return { status: response.statusCode, text: await response.body.text() };
    };
    const isReady = () =>
      post("{}")
        .then(({ status }) => status === 200)
        .catch(() => false);
    if (!(await waitUntil(isReady, 90_000))) throw new Error(`The collector did not start:\n${server.recentOutput()}`);
    for (const body of bodies) {
      const { status, text } = await post(body);
      if (status !== 200 || text.includes("rejected"))
        throw new Error(`The collector rejected an export: status ${status}, response ${text}, request ${body}`);
    }
  } finally {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
  return parseSpans(lines);
}

interface PrintedSpan {
  readonly service: string;
  readonly fields: Record<string, string>;
  readonly attributes: Record<string, string | number>;
}

/** Parses the output of the debug exporter, which prints each resource before its spans. */
function parseSpans(lines: readonly string[]): CollectedSpan[] {
  const spans: PrintedSpan[] = [];
  let service = "";
  let span: PrintedSpan | undefined;
  for (const line of lines) {
    const [, field, fieldText = ""] = /^ {4}(\S[^:]*?) *: (.*)$/.exec(line) ?? [];
    const [, key, type, value = ""] = /^ {5}-> (\S+): (Str|Int)\((.*)\)$/.exec(line) ?? [];
    if (line.startsWith("ResourceSpans #")) span = undefined;
    else if (line.startsWith("Span #")) {
      span = { service, fields: {}, attributes: {} };
      spans.push(span);
    } else if (key && span) span.attributes[key] = type === "Int" ? Number(value) : value;
    else if (key === "service.name") service = value;
    else if (field && span) span.fields[field] = fieldText;
  }
  return spans.map(toSpan);
}

const toSpan = ({ service, fields, attributes }: PrintedSpan): CollectedSpan => ({
  service,
  traceId: fields["Trace ID"] ?? "",
  spanId: fields["ID"] ?? "",
  parentSpanId: fields["Parent ID"] || undefined,
  name: fields["Name"] ?? "",
  kind: fields["Kind"]?.toLowerCase() ?? "",
  startMs: parseMillis(fields["Start time"]),
  endMs: parseMillis(fields["End time"]),
  attributes,
  isFailed: fields["Status code"] === "Error",
});

/** Parses "2026-03-01 12:00:00.123456 +0000 UTC". */
const parseMillis = (time = ""): number => Date.parse(time.replace(" ", "T").replace(" +0000 UTC", "Z"));
