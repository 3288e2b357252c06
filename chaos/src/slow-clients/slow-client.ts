import { connect, type Socket } from "node:net";
import { waitUntil } from "@amana/dev-env/eventually";
import { sleep } from "@amana/runtime";

export interface Target {
  readonly port: number;
  /** Loopback address of the client. The gateway limits connections by this address. */
  readonly localAddress: string;
}

interface Response {
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

const chunksPerWrite = 500;
const receivedMax = 64 * 1024;
/**
 * Maximum time until a new connection is used. Servers close a connection without bytes after five
 * seconds. On a busy machine, this process may notice too late that the connection is established.
 */
const unusedMsMax = 2_000;
const attemptsMax = 20;

/** A raw connection. Errors close the connection and are never thrown. */
export class SlowClient {
  readonly #socket: Socket;
  #received = "";
  /** True if the client or the server has closed the connection. */
  isClosed = false;

  constructor({ port, localAddress }: Target, { reads = true } = {}) {
    this.#socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
    this.#socket.on("error", () => {});
    this.#socket.once("end", () => this.#socket.end());
    this.#socket.once("close", () => {
      this.isClosed = true;
    });
    if (reads) this.read();
  }

  read(): void {
    this.#socket.on("data", (chunk: Buffer) => {
      if (this.#received.length < receivedMax) this.#received += chunk.toString("latin1");
    });
  }

  /** Resolves when the connection is established or has failed. */
  async waitForConnection(): Promise<void> {
    await new Promise<void>((resolve) => {
      for (const event of ["connect", "close"]) this.#socket.once(event, () => resolve());
    });
  }

  get responses(): Response[] {
    const heads = this.#received.matchAll(/HTTP\/1\.1 (\d{3}) .*?\r\n\r\n/gs);
    return [...heads].map(([head, status]) => ({ status: Number(status), hasRetryAfter: /^retry-after: \d/im.test(head) }));
  }

  /** Resolves when the operating system has accepted the bytes or the connection has ended. */
  async send(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** Sends chunks of one byte each, but not the end of the body. Stops when a response arrives. */
  async sendTinyChunks(count: number): Promise<void> {
    const chunks = "1\r\n \r\n".repeat(chunksPerWrite);
    for (let sent = 0; sent < count && !this.isClosed && this.responses.length === 0; sent += chunksPerWrite)
      await this.send(chunks);
  }

  /**
   * Sends the same piece repeatedly until the connection has closed. A socket that does not read
   * detects a closed connection only when it writes. Returns false if the connection is still open
   * after the timeout.
   */
  async sendUntilClosed(piece: string, timeoutMs: number): Promise<boolean> {
    return await waitUntil(async () => {
      if (!this.isClosed && !this.#socket.writableEnded) this.#socket.write(piece);
      await sleep(200);
      return this.isClosed;
    }, timeoutMs);
  }

  /** Closes the sending half of the connection. */
  endSending(): void {
    this.#socket.end();
  }

  /** Waits for a response or the end of the connection. Returns false after the timeout. */
  async waitForOutcome(timeoutMs: number): Promise<boolean> {
    return await waitUntil(() => this.isClosed || this.responses.length > 0, timeoutMs);
  }

  async waitForClose(timeoutMs: number): Promise<boolean> {
    return await waitUntil(() => this.isClosed, timeoutMs);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Returns the head of a POST with a body of `length` bytes, or with a chunked body. */
export function formatHead(path: string, headers: Readonly<Record<string, string>>, length?: number): string {
  const framing = length === undefined ? "transfer-encoding: chunked" : `content-length: ${length}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join("")}${framing}\r\n\r\n`;
}

/** Connects a client. Connects again if this process noticed the connection too late. */
async function connectClient(...options: ConstructorParameters<typeof SlowClient>): Promise<SlowClient> {
  for (let attempt = 1; ; attempt++) {
    const startedMs = performance.now();
    const client = new SlowClient(...options);
    await client.waitForConnection();
    if (performance.now() - startedMs < unusedMsMax || attempt === attemptsMax) return client;
    client[Symbol.dispose]();
  }
}

/** Connects `count` clients, calls `use` for all clients in parallel, and closes the clients. */
export async function withClients<T>(
  count: number,
  target: Target,
  use: (client: SlowClient, i: number) => Promise<T>,
  options?: { reads?: boolean },
): Promise<{ clients: SlowClient[]; results: T[] }> {
  using stack = new DisposableStack();
  const clients: SlowClient[] = [];
  const connectAndUse = async (_: unknown, i: number) => {
    const client = stack.use(await connectClient(target, options));
    clients.push(client);
    return await use(client, i);
  };
  return { clients, results: await Promise.all(Array.from({ length: count }, connectAndUse)) };
}
