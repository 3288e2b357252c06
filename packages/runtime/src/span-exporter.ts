import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { Logger } from "./logger.ts";
import { toOtlp } from "./otlp.ts";
import { readText } from "./read-body.ts";
import { backoffMs, sleep, waitAtMost } from "./time.ts";
import { inTrace } from "./trace.ts";
import { type FinishedSpan, spans } from "./tracing.ts";
import type { TracingSettings } from "./tracing-settings.ts";
import { uuidv7 } from "./uuid.ts";

/** About four megabytes of them; further ones are dropped. */
const waitingMax = 4_096;
/** Making the body of a batch takes about a millisecond, which nothing else gets. */
const batchMax = 256;
/** A batch that does not fill up is sent after this long. */
const fillMs = 2_000;
const answerTimeoutMs = 10_000;
const answerBytesMax = 64 * 1024;
const stopMs = 3_000;
const warnMs = 60_000;
/** The answers after which the same batch may be taken later (OTLP/HTTP). */
const passing = new Set([429, 502, 503, 504]);

/** Giving a span waits for nothing: it is sent in a batch, kept while that fails, or dropped. */
export function createSpanExporter(
  { url, headers, certificateAuthority }: TracingSettings,
  service: string,
  logger: Logger,
): { take(span: FinishedSpan): void } & AsyncDisposable {
  const resource = { service, instance: uuidv7() };
  const { request, Agent } = url.startsWith("https:") ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(certificateAuthority && { ca: certificateAuthority }) });
  const waiting: FinishedSpan[] = [];
  const stop = new AbortController();
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  const warn = (about: object) => {
    if (performance.now() - warnedAtMs < warnMs) return;
    warnedAtMs = performance.now();
    logger.warn({ ...about, waiting: waiting.length }, "spans cannot be sent to the collector");
  };

  /** Answers how many were refused; undefined when they may be taken later. */
  const send = async (batch: readonly FinishedSpan[]): Promise<number | undefined> => {
    try {
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(answerTimeoutMs)]);
      const body = Buffer.from(JSON.stringify(toOtlp(resource, batch)));
      const sent = request(url, {
        method: "POST",
        agent,
        signal,
        headers: { ...headers, "content-type": "application/json", "content-length": body.length },
      });
      // Whoever waits is told by rejection.
      sent.on("error", () => {});
      sent.end(body);
      const [answer] = (await once(sent, "response", { signal })) as [http.IncomingMessage];
      const status = answer.statusCode ?? 0;
      // Once it says that it has them, they are not sent again, whatever else it says.
      const text = await readText(answer, answerBytesMax).catch(() => "");
      if (status >= 200 && status < 300) return Math.min(rejectedIn(text), batch.length);
      warn({ status });
      return passing.has(status) ? undefined : batch.length;
    } catch (error) {
      if (!end.signal.aborted) warn({ err: error });
      return undefined;
    }
  };

  const sendWaiting = async () => {
    let failures = 0;
    do {
      const batch = waiting.slice(0, batchMax);
      const refused = await send(batch);
      if (refused === undefined) {
        if (stop.signal.aborted) return;
        await sleep(backoffMs(++failures, 1_000, 30_000), stop.signal);
        continue;
      }
      failures = 0;
      waiting.splice(0, batch.length);
      spans.inc({ outcome: "refused" }, refused);
      spans.inc({ outcome: "sent" }, batch.length - refused);
    } while (failures > 0 || waiting.length >= batchMax || (stop.signal.aborted && waiting.length > 0));
  };

  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    // They are of many traces.
    sending ??= inTrace(undefined, sendWaiting).finally(() => {
      sending = undefined;
      if (waiting.length > 0 && !stop.signal.aborted) wait();
    });
  };
  const wait = () => {
    timer ??= setTimeout(begin, fillMs).unref();
  };

  const sendLast = async () => {
    await sending;
    if (waiting.length > 0) begin();
    await sending;
  };

  return {
    take(span) {
      if (waiting.length >= waitingMax) return spans.inc({ outcome: "dropped" });
      waiting.push(span);
      if (waiting.length >= batchMax) begin();
      else wait();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await waitAtMost(stopMs, sendLast());
      end.abort();
      clearTimeout(timer);
      agent.destroy();
      spans.inc({ outcome: "dropped" }, waiting.length);
      if (waiting.length > 0) logger.warn({ dropped: waiting.length }, "the last spans could not be sent to the collector");
    },
  };
}

/** Of a batch that was taken, how many were not. */
function rejectedIn(text: string): number {
  try {
    const answer = JSON.parse(text || "{}") as { partialSuccess?: { rejectedSpans?: string | number } };
    return Math.max(0, Number(answer.partialSuccess?.rejectedSpans ?? 0)) || 0;
  } catch {
    return 0;
  }
}
