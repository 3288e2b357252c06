import type { IncomingMessage } from "node:http";
import { IncomingBody } from "../bytes/incoming-body.ts";
import type { App, Gateway } from "../gateway.ts";

/**
 * Limits the bytes in memory for each caller and in total. Request bodies and unsent responses
 * count. A body counts from its first byte until the response has been sent, because the handler
 * keeps the body in memory.
 */
export function boundBytes(app: App, { bytes, byteBounds }: Gateway): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { incoming, method, routeOptions } = request;
    // The body of a GET has no meaning, so it is dropped.
    if (incoming && method !== "GET" && method !== "HEAD") {
      incoming.startStoring(routeOptions.bodyLimit, byteBounds.ofUnknown(request));
      reply.raw.once("close", () => incoming.release());
    }
    done();
  });

  app.addHook("preValidation", (request, _reply, done) => {
    if (request.routeOptions.config.isUnbounded) return done();
    // The response to a change is sent even if the response exceeds a limit. In this case, this
    // check rejects the next request of the caller before the request takes effect.
    done(bytes.reserve(byteBounds.of(request), 0)?.refusal());
  });

  app.addHook("onSend", (request, reply, payload, done) => {
    if (request.routeOptions.config.isUnbounded) return done(null, payload);
    // The caller disconnected while the request was handled, and "close" is not emitted again. The
    // bytes would count forever.
    if (reply.raw.destroyed) return done(null, payload);
    // A Buffer in a successful response is a static file, which all responses share.
    const isProblem = Buffer.isBuffer(payload) && reply.statusCode >= 400;
    if (typeof payload !== "string" && !isProblem) return done(null, payload);
    const bounds = byteBounds.of(request);
    const length = Buffer.byteLength(payload);
    // Only the successful response to a GET may be replaced by a rejection. A request with another
    // method may have taken effect, so its response must be sent.
    if (request.method === "GET" && !isProblem) {
      const exceeded = bytes.reserve(bounds, length);
      if (exceeded) return done(exceeded.refusal());
    } else bytes.add(bounds, length);
    reply.raw.once("close", () => bytes.add(bounds, -length));
    done(null, payload);
  });
}

/**
 * Begins to read the body of each request, even of a request that a later hook rejects. This
 * function must be called before other hooks are registered.
 */
export function receiveBodies(app: App, { bytes, connections }: Gateway): void {
  app.decorateRequest("incoming", null);
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    if (hasBody(raw)) request.incoming = new IncomingBody(raw, bytes, () => connections.end(raw.socket, "chunks"));
    done();
  });
}

/** Returns whether the request has a body (RFC 9112, section 6.3). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
