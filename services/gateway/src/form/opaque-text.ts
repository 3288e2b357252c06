import type { FastifyRequest } from "fastify";
import { memberText } from "../json/member-text.ts";
import { validationFailed } from "../problem.ts";

const bytesMax = 16 * 1024;

/**
 * The text of a member that `opaqueObject` accepted, as it was sent: parsing and writing it again
 * would change numbers and escapes that belong to the caller. Undefined when it was not sent;
 * throws a Problem above 16 KiB.
 */
export function opaqueText(request: FastifyRequest, name: string): string | undefined {
  const text = request.bodyBytes ? memberText(request.bodyBytes, name) : undefined;
  if (text === undefined || Buffer.byteLength(text) <= bytesMax) return text;
  throw validationFailed([
    { pointer: `/${name}`, code: "invalid", message: `must have at most ${bytesMax} bytes as JSON without white space` },
  ]);
}
