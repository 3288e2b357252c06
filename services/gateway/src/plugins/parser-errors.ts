import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { uuidv7 } from "@amana/runtime";
import type { Connections } from "../connections.ts";
import { problemDocument } from "../errors.ts";
import { Problem } from "../problem.ts";
import type { ProblemCode } from "../problem-catalogue.ts";
import { requestIdOf } from "./edge.ts";

const problemCodes: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** What Node's parser refuses never becomes a request, so its answer goes to the socket. */
export const answerParserErrors = (connections: Connections) => (error: Error & { code?: string }, socket: Socket) => {
  // A peer that is gone cannot be told anything.
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // What came whole before is being done, so its own answer is the one to give.
  if (connections.endWithAnswer(socket)) return;
  const requestId = uuidv7();
  const problem = Problem.of(problemCodes[error.code ?? ""] ?? "malformed_request");
  const body = problemDocument(problem, requestId);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
      `content-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  );
};

/** Node answers an `Expect` that is not 100-continue by itself, before a request begins. */
export function answerUnknownExpectation(request: IncomingMessage, response: ServerResponse): void {
  const requestId = requestIdOf(request);
  const problem = Problem.of("expectation_failed");
  response
    .writeHead(problem.status, {
      "content-type": "application/problem+json",
      "x-request-id": requestId,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      // Whether the body that was announced will follow is not known.
      connection: "close",
    })
    .end(problemDocument(problem, requestId));
}
