import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { IncomingBody } from "../bytes/incoming-body.ts";
import type { App, Gateway } from "../gateway.ts";
import { isRead } from "../rate-limit/request-kind.ts";
import { limitResponse } from "./limit-rate.ts";

/**
 * Number of bytes of a static file that count as one more request of the caller's network. The
 * kernel copies this number of bytes in about the time that a short request takes.
 */
const fileBytesPerRequest = 256 * 1024;

/**
 * Limits the bytes in memory for each caller and in total. Request bodies and unsent responses
 * count. A body counts from its first byte until the response has been sent, because the handler
 * keeps the body in memory.
 */
export function boundBytes(app: App, gateway: Gateway): void {
  const { bytes, byteBounds, connections } = gateway;
  app.addHook("onRequest", (request, reply, done) => {
    const { incoming, routeOptions } = request;
    // The body of a GET or HEAD has no meaning, so it is dropped.
    if (incoming && !isRead(request)) {
      incoming.startStoring(routeOptions.bodyLimit, byteBounds.ofUnknown(request));
      reply.raw.once("close", () => incoming.release());
    }
    done();
  });

  app.addHook("preValidation", (request, _reply, done) => {
    if (request.routeOptions.config.isUnbounded) return done();
    // The successful response to a change is sent even if the response exceeds a limit. In this
    // case, this check rejects the next request of the caller before the request takes effect.
    done(bytes.reserve(byteBounds.of(request), 0)?.refusal());
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    if (request.routeOptions.config.isUnbounded) return done(null, payload);
    // The payload is empty, or the stream of a statement. The route of the statement limits the
    // memory of the stream and counts its pages.
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return done(null, payload);
    const isProblem = Buffer.isBuffer(payload) && reply.statusCode >= 400;
    // Every other Buffer is a static file, which all responses share, or a PDF of one response.
    const isFile = Buffer.isBuffer(payload) && !isProblem && reply.getHeader("content-type") !== "application/pdf";
    if (isFile) {
      // The response to a HEAD has no content.
      const tokens = request.method === "HEAD" ? 0 : Math.floor(payload.length / fileBytesPerRequest);
      if (tokens > 0) connections.count(request.raw.socket, tokens);
      return done(null, payload);
    }
    const length = Buffer.byteLength(payload);
    limitResponse(gateway, request, length);
    // The caller disconnected while the request was handled, and "close" is not emitted again. The
    // bytes would count forever.
    if (reply.raw.destroyed) return done(null, payload);
    const bounds = byteBounds.of(request);
    const isErrorPage = !isProblem && reply.statusCode >= 400;
    // A problem document is sent even beyond a limit, because it is small. The successful response
    // to a request that is not a read is also sent, because the request may have taken effect.
    const mustBeSent = isProblem || !(isRead(request) || isErrorPage);
    const exceeded = mustBeSent ? undefined : bytes.reserve(bounds, length);
    if (exceeded && isErrorPage) return done(null, textInsteadOfPage(reply));
    if (exceeded) return done(exceeded.refusal());
    if (mustBeSent) bytes.add(bounds, length);
    reply.raw.once("close", () => bytes.add(bounds, -length));
    done(null, payload);
  });
}

/**
 * Replaces an error page that exceeds a limit: sets the content type and returns the status as
 * text. The text is so short that its bytes are not counted.
 */
function textInsteadOfPage(reply: FastifyReply): string {
  reply.type("text/plain; charset=utf-8");
  return `${reply.statusCode} ${STATUS_CODES[reply.statusCode]}\n`;
}

/**
 * Begins to read the body of each request, even of a request that a later hook rejects. This
 * function must be called before other hooks are registered.
 */
export function receiveBodies(app: App, gateway: Gateway): void {
  app.decorateRequest("incoming", null);
  app.addHook("onRequest", (request, _reply, done) => {
    request.incoming = receiveBody(request.raw, gateway);
    done();
  });
}

/**
 * Begins to read the body of a request. Must be called for each request before its response is
 * sent, even if Fastify does not route the request. Otherwise Node would keep each chunk of the
 * body until the response has been sent. Returns null if the request has no body.
 */
export const receiveBody = (raw: IncomingMessage, { bytes, connections }: Gateway): IncomingBody | null =>
  hasBody(raw)
    ? new IncomingBody(raw, bytes, {
        onManyChunks: () => connections.count(raw.socket),
        onTooManyChunks: () => connections.end(raw.socket, "chunks"),
      })
    : null;

/** Returns whether the request has a body (RFC 9112, section 6.3). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
