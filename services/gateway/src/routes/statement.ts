import { Readable } from "node:stream";
import { StatementLineJson } from "@amana/public-api";
import { sleep } from "@amana/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { BoundedCounters } from "../bounded-counters.ts";
import { callOf, limitKeyOf, requestLogFields } from "../call.ts";
import { timestamp } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import type { Tag } from "../openapi-tags.ts";
import { requireValidKey } from "../plugins/authenticate.ts";
import { Problem, validationFailed } from "../problem.ts";
import { rateLimited } from "../rate-limit/refusals.ts";
import type { TokenBuckets } from "../rate-limit/token-buckets.ts";
import { csv, jsonLines, type StatementFormat, statementFormatOf } from "../statement/formats.ts";
import { streamLines } from "../statement/stream-lines.ts";

const daysMax = 92;
/** Maximum number of statements that are sent to one business at the same time. */
const perBusiness = 2;
/**
 * Memory that a statement uses while it is sent: two pages, each as messages and as text. The
 * gateway counts this number towards the limits of bytes in memory.
 */
const statementBytes = 4 * 1024 * 1024;

/**
 * Adds the route of the statement. The gateway reads a page while it sends the previous page. The
 * limit `statement` counts pages instead of bytes, because the size of a statement is not available
 * when the response begins.
 */
export function addStatement(app: App, gateway: Gateway): void {
  const { rpc, bytes, byteBounds, connectionBounds, limits, logger } = gateway;
  const openByBusiness = new BoundedCounters();
  const openStreams = new Set<Readable>();

  // A slow reader of a long statement must not prevent the gateway from stopping.
  app.addHook("preClose", (done) => {
    const endAll = () => {
      for (const stream of openStreams) stream.destroy(new Error("the gateway is stopping"));
    };
    setTimeout(endAll, connectionBounds.stallMs).unref();
    done();
  });

  /**
   * Counts a statement as open until its response is closed. Throws a Problem if a limit is
   * exceeded.
   */
  const admit = (request: FastifyRequest, reply: FastifyReply) => {
    // The caller has disconnected. The event "close" is not emitted again, so the statement would
    // count forever.
    if (reply.raw.destroyed) throw Problem.of("service_unavailable");
    const open = [{ key: limitKeyOf(request), max: perBusiness }];
    if (openByBusiness.reserve(open, 1)) throw rateLimited("at_once", 5, { detail: tooManyStatements });
    const bounds = byteBounds.of(request);
    const exceededBound = bytes.reserve(bounds, statementBytes);
    if (exceededBound) {
      openByBusiness.add(open, -1);
      throw exceededBound.refusal();
    }
    reply.raw.once("close", () => {
      openByBusiness.add(open, -1);
      bytes.add(bounds, -statementBytes);
    });
  };

  app.route({
    method: "GET",
    url: "/statement",
    config: { bulkhead: "statement", isStreamed: true },
    schema: statementSchema(),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { from, to } = request.query as { from: string; to: string };
      const range = rangeOf(from, to);
      admit(request, reply);
      const call = callOf(request, reply);
      const { listStatementLines } = rpc.statements;
      const readPage = async (receiver: Receiver, cursor?: string) => {
        await waitForToken(limits.statement, limitKeyOf(request), receiver);
        await requireValidKey(gateway, request);
        return await listStatementLines({ ...range, ...(cursor !== undefined && { cursor }) }, call);
      };
      const firstPage = await readPage(reply.raw);
      // If the caller has disconnected, Fastify would report the unsent stream as an internal
      // error.
      if (reply.raw.destroyed) throw Problem.of("service_unavailable");
      const format = statementFormatOf(request.headers.accept);
      reply.headers(headersOf(format, range.fromMs, firstPage.untilMs));
      // Fastify would read the whole stream for a HEAD.
      if (request.method === "HEAD") return reply.send("");
      const lines = streamLines(firstPage, format, (cursor) => readPage(stream, cursor));
      const stream: Readable = Readable.from(lines, { objectMode: false, highWaterMark: 1 });
      stream.once("error", (error) =>
        logger.warn({ err: error, ...requestLogFields(request) }, "statement not completed, connection closed"),
      );
      openStreams.add(stream);
      stream.once("close", () => openStreams.delete(stream));
      return reply.send(stream);
    },
  });
}

/** Response or stream that receives a page. */
type Receiver = Pick<Readable, "destroyed">;

/**
 * Draws a token for a page. Waits while the bucket is empty. Throws a Problem if the receiver is
 * destroyed during the wait, because the gateway must not read a page without a token.
 */
async function waitForToken(buckets: TokenBuckets | undefined, key: string, receiver: Receiver): Promise<void> {
  while (buckets?.draw(key).allowed === false) {
    await sleep(1_000 / buckets.rate.perSecond);
    if (receiver.destroyed) throw Problem.of("service_unavailable");
  }
}

const tooManyStatements = `At most ${perBusiness} statements are sent to a business at the same time. Read one to its end, or close its connection.`;

const headersOf = (format: StatementFormat, fromMs: bigint, untilMs: bigint) => {
  const [from, until] = [fromMs, untilMs].map((ms) => new Date(Number(ms)).toISOString()) as [string, string];
  const fileName = `statement-${from.slice(0, 10)}-${until.slice(0, 10)}.csv`;
  return {
    vary: "accept",
    "content-type": format.contentType,
    "x-statement-until": until,
    ...(format === csv && { "content-disposition": `attachment; filename="${fileName}"` }),
  };
};

/**
 * Returns the range of a statement. Throws a Problem if `to` is not after `from`, or more than 92
 * days after `from`.
 */
function rangeOf(from: string, to: string): { fromMs: bigint; toMs: bigint } {
  const [fromMs = 0, toMs = 0] = [from, to].map((time) => Date.parse(time.toUpperCase()));
  if (toMs > fromMs && toMs - fromMs <= daysMax * 86_400_000) return { fromMs: BigInt(fromMs), toMs: BigInt(toMs) };
  throw validationFailed([
    { parameter: "to", code: "invalid", message: `must be later than \`from\`, by at most ${daysMax} days` },
  ]);
}

const statementSchema = () => ({
  tags: ["Payments" satisfies Tag],
  operationId: "getStatement",
  summary: "Get the money statement",
  description:
    "Returns the payments, refunds and reversals of your business from `from` to `to`, at most 92 days, in the order in " +
    "which they took effect. The response is JSON lines, or CSV with `Accept: text/csv`. It is streamed, and the number of " +
    "lines is not limited. If the connection closes before the end of the chunked body, the statement is incomplete: send " +
    "the request again. The statement ends at `X-Statement-Until`, which is earlier than `to` if `to` is in the future or a " +
    "change before `to` is still being stored. Use this time as `from` of the next statement, so that no line is missing or " +
    "repeated.",
  querystring: Type.Object({
    from: timestamp({ description: "Start of the time range, inclusive." }),
    to: timestamp({
      description: "End of the time range, exclusive, at most 92 days after `from`.",
      examples: ["2026-11-21T10:00:00Z"],
    }),
  }),
  response: {
    200: {
      description: "The statement. Each line is a JSON object, or a CSV record with the same names in the header.",
      headers: {
        "X-Statement-Until": { type: "string", format: "date-time", description: "End of the statement, exclusive." },
      },
      content: {
        [jsonLines.contentType]: { schema: StatementLineJson },
        "text/csv": { schema: Type.String() },
      },
    },
  },
});
