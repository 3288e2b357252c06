import { connect, type Socket } from "node:net";

export interface Response {
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

const headEnd = Buffer.from("\r\n\r\n");
const empty = Buffer.alloc(0);

/**
 * A minimal HTTP/1.1 client connection with one request at a time. A complete HTTP client would
 * distort the measurement at ten times the capacity, because it would use too much processor time
 * of the machine, on which the system under test also runs.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = empty;
  #pending: { resolve: (response: Response) => void; reject: (error: Error) => void } | undefined;
  /** Whether the connection can send another request. */
  isOpen = true;

  constructor(url: URL) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#end(error));
    this.#socket.on("close", () => this.#end(new Error("the connection was closed before the response")));
  }

  send(request: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request);
    });
  }

  destroy(reason?: Error): void {
    this.#socket.destroy(reason);
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headLength = this.#received.indexOf(headEnd);
    if (headLength < 0) return;
    const head = this.#received.toString("latin1", 0, headLength).toLowerCase();
    if (!isComplete(head, this.#received.subarray(headLength + headEnd.length))) return;
    this.#received = empty;
    if (head.includes("\r\nconnection: close")) this.isOpen = false;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ status: Number(head.slice(9, 12)), hasRetryAfter: head.includes("\r\nretry-after: ") });
  }

  #end(error: Error): void {
    this.isOpen = false;
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}

/** Returns true if the response is complete. Relies on the gateway not sending trailers. */
function isComplete(head: string, body: Buffer): boolean {
  if (/^http\/1\.1 (204|304)/.test(head)) return true;
  if (head.includes("\r\ntransfer-encoding: chunked")) return body.toString("latin1").endsWith("0\r\n\r\n");
  return body.length >= Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
}
