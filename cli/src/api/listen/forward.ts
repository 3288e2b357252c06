import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { readBytes } from "@amana/runtime/read-body";

/** Response of the local address. The command returns it to Amana. */
export interface ForwardResult {
  readonly status: number;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reason for the status when the local address did not respond. */
  readonly reason?: string;
}

/** Shorter than the ten seconds after which Amana ends a delivery attempt. */
const timeoutMs = 9_500;
const responseBytesMax = 16 * 1024;
/** Hop-by-hop headers and headers that depend on the connection. */
const connectionHeaders = ["host", "connection", "keep-alive", "transfer-encoding", "content-length"];
const returnedHeaders = ["retry-after", "content-type"];

/**
 * Forwards a delivery with unchanged headers and bytes. Does not follow redirects, because Amana's
 * delivery does not follow them either. Returns status 502 if the request to the local address
 * fails, and status 504 after the timeout.
 */
export async function forward(
  receiverUrl: string,
  { rawHeaders }: IncomingMessage,
  body: Buffer,
  stop: AbortSignal,
): Promise<ForwardResult> {
  const url = new URL(receiverUrl);
  const headers = ["host", url.host, "content-length", String(body.length)];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]];
    if (!connectionHeaders.includes(name.toLowerCase())) headers.push(name, value);
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === "https:" ? httpsRequest : httpRequest;
      const signal = AbortSignal.any([timeout, stop]);
      send(url, { method: "POST", headers, signal }, resolve).on("error", reject).end(body);
    });
    const responseHeaders = returnedHeaders.flatMap((name) => {
      const value = response.headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    // A body over the limit is omitted. Amana stores only the first KiB of a response body anyway.
    const responseBody = await readBytes(response, responseBytesMax).catch(() => Buffer.alloc(0));
    return { status: response.statusCode ?? 502, body: responseBody, headers: Object.fromEntries(responseHeaders) };
  } catch (error) {
    if (timeout.aborted) return { status: 504, reason: "timeout" };
    return { status: 502, reason: `no response (${(error as NodeJS.ErrnoException).code ?? "stopped"})` };
  }
}
