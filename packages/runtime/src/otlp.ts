import type { FinishedSpan, SpanAttributes, SpanKind } from "./tracing.ts";

/** The numbers of opentelemetry.proto.trace.v1.Span.SpanKind. */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
const statusError = 2;
/** The sampled flag, and that it is known whether the parent was in another process. */
const flags = 0x101;
const parentIsElsewhere = 0x200;

/** Which process spans are of. */
interface Resource {
  readonly service: string;
  readonly instance: string;
}

/**
 * An ExportTraceServiceRequest in the JSON of OTLP 1.x: protobuf's JSON mapping, but ids in
 * hexadecimal and enums as numbers.
 */
export function toOtlp({ service, instance }: Resource, spans: readonly FinishedSpan[]): object {
  const attributes = toAttributes({
    "service.name": service,
    "service.namespace": "amana",
    "service.instance.id": instance,
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.name": "amana",
    "telemetry.sdk.version": "1",
  });
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ scope: { name: "amana" }, spans: spans.map(toSpan) }] }] };
}

const toSpan = ({ kind, name, traceparent, parentId, startMs, endMs, attributes, failure }: FinishedSpan) => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  ...(parentId && { parentSpanId: parentId }),
  flags: kind === "server" || kind === "consumer" ? flags | parentIsElsewhere : flags,
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanos(startMs),
  endTimeUnixNano: nanos(endMs),
  attributes: toAttributes(failure === undefined ? attributes : { ...attributes, "error.type": failure }),
  status: failure === undefined ? {} : { code: statusError },
});

/** Whole microseconds: more digits than a double has for the time of day. */
const nanos = (ms: number): string => `${Math.round(ms * 1_000)}000`;

const toAttributes = (attributes: SpanAttributes) =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }));
