import type { FastifyRequest } from "fastify";
import { memberText } from "../json/member-text.ts";
import { validationFailed } from "../problem.ts";

const opaqueBytesMax = 16 * 1024;

/**
 * Returns the JSON text of a member that `opaqueObject` accepted, or undefined if the member is
 * absent. The text is a part of the request body, because serializing the parsed value would change
 * numbers and escapes. Throws a Problem if the text has more than 16 KiB.
 */
export function readOpaqueText(request: FastifyRequest, name: string): string | undefined {
  const text = request.bodyBytes ? memberText(request.bodyBytes, name) : undefined;
  if (text === undefined || Buffer.byteLength(text) <= opaqueBytesMax) return text;
  throw validationFailed([
    { pointer: `/${name}`, code: "invalid", message: `must have at most ${opaqueBytesMax} bytes as JSON without white space` },
  ]);
}
