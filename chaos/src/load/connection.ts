import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly saysWhen: boolean;
}

const headEnd = Buffer.from("\r\n\r\n");
const none = Buffer.alloc(0);

/**
 * One HTTP/1.1 connection, one request at a time, with no more done for each than has to be: on a
 * machine that the sender shares with what it loads, a client's usual cost for ten times the
 * capacity would be what is measured.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = none;
  #settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  /** Until the answer is whole. */
  isOpen = true;

  constructor(url: URL) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#end(error));
    this.#socket.on("close", () => this.#end(new Error("the connection was closed")));
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  destroy(why?: Error): void {
    this.#socket.destroy(why);
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(headEnd);
    if (end < 0) return;
    const head = this.#received.toString("latin1", 0, end).toLowerCase();
    if (!isWhole(head, this.#received.subarray(end + headEnd.length))) return;
    this.#received = none;
    if (head.includes("\r\nconnection: close")) this.isOpen = false;
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.resolve({ status: Number(head.slice(9, 12)), saysWhen: head.includes("\r\nretry-after: ") });
  }

  #end(error: Error): void {
    this.isOpen = false;
    this.#settle?.reject(error);
    this.#settle = undefined;
  }
}

/** No answer here has a trailer, and none comes before it was asked for. */
function isWhole(head: string, body: Buffer): boolean {
  if (/^http\/1\.1 (204|304)/.test(head)) return true;
  if (head.includes("\r\ntransfer-encoding: chunked")) return body.toString("latin1").endsWith("0\r\n\r\n");
  return body.length >= Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? Number.NaN);
}
