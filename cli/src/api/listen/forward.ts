import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { readBytes } from "./read-bytes.ts";

/** What the platform is answered. */
export interface Forwarded {
  readonly status: number;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the local address gave no status. */
  readonly reason?: string;
}

/** The platform waits for ten seconds, and this answers before. */
const timeoutMs = 9_500;
const answerBytesMax = 16 * 1024;
/** Of one connection, and so not of the next. */
const ownHeaders = ["host", "connection", "keep-alive", "transfer-encoding", "content-length"];
const passedBack = ["retry-after", "content-type"];

/**
 * Sends a delivery on as it came, headers and bytes. No redirects are followed, as the platform
 * follows none. Where nobody answers it is 502, or 504 after the time.
 */
export async function forward(to: string, { rawHeaders }: IncomingMessage, body: Buffer, stop: AbortSignal): Promise<Forwarded> {
  const url = new URL(to);
  const headers = ["host", url.host, "content-length", String(body.length)];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]];
    if (!ownHeaders.includes(name.toLowerCase())) headers.push(name, value);
  }
  const timeOut = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === "https:" ? httpsRequest : httpRequest;
      const signal = AbortSignal.any([timeOut, stop]);
      send(url, { method: "POST", headers, signal }, resolve).on("error", reject).end(body);
    });
    const shown = passedBack.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    // A longer body is nobody's business: the platform keeps the first KiB.
    const read = await readBytes(answer, answerBytesMax).catch(() => Buffer.alloc(0));
    return { status: answer.statusCode ?? 502, body: read, headers: Object.fromEntries(shown) };
  } catch (error) {
    if (timeOut.aborted) return { status: 504, reason: "no answer in time" };
    return { status: 502, reason: `no answer (${(error as NodeJS.ErrnoException).code ?? "stopped"})` };
  }
}
