import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { uuidv7 } from "@amana/runtime";
import type { Connections } from "../connections.ts";
import { problemDocument } from "../errors.ts";
import type { Gateway } from "../gateway.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";
import { receiveBody } from "./bound-bytes.ts";
import { requestIdOf } from "./edge.ts";

const problemCodes: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Responds to errors of Node's HTTP parser on the socket, because there is no request object. */
export const respondToParserErrors = (connections: Connections) => (error: Error & { code?: string }, socket: Socket) => {
  // A disconnected caller cannot receive a response.
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // If an earlier request on the connection is complete, the connection closes after its response.
  if (connections.closeAfterResponse(socket)) return;
  const requestId = uuidv7();
  const problem = Problem.of(problemCodes[error.code ?? ""] ?? "malformed_request");
  const body = problemDocument(problem, requestId);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
      `content-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  );
};

/**
 * Rejects an `Expect` header other than 100-continue. Node reports such a request outside of
 * Fastify.
 */
export const rejectUnknownExpectation = (gateway: Gateway) => (request: IncomingMessage, response: ServerResponse) => {
  receiveBody(request, gateway);
  const requestId = requestIdOf(request);
  const problem = Problem.of("expectation_failed");
  response
    .writeHead(problem.status, {
      "content-type": "application/problem+json",
      "x-request-id": requestId,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      // The caller may still send the announced body, so the connection cannot be used for further
      // requests.
      connection: "close",
    })
    .end(problemDocument(problem, requestId));
};
