import net from "node:net";
import { eventually } from "@amana/testing";
import { expect } from "vitest";

/**
 * A TCP client that sends arbitrary bytes. With `reads: false`, the client reads only when the test
 * calls `read` or `readUntil`.
 */
export class RawClient implements AsyncDisposable {
  readonly socket: net.Socket;
  text = "";
  isClosed = false;

  /** With `reads`, the client reads from the start. `address` is the client's loopback address. */
  constructor(port: number, { reads = true, address = "127.0.0.1", allowHalfOpen = false } = {}) {
    this.socket = net.connect({ port, host: "127.0.0.1", localAddress: address, allowHalfOpen });
    this.socket.on("error", () => {});
    this.socket.once("close", () => {
      this.isClosed = true;
    });
    if (reads) this.read();
  }

  read(): void {
    this.socket.on("data", (chunk) => {
      this.text += chunk.toString("latin1");
    });
  }

  /** Reads until `bytes` have been received in total, then stops reading. */
  async readUntil(bytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onData = () => {
      if (this.socket.bytesRead < bytes) return;
      this.socket.off("data", onData).pause();
      resolve();
    };
    this.socket.on("data", onData).resume();
    await promise;
  }

  async write(text: string): Promise<void> {
    await new Promise<void>((done) => this.socket.write(text, () => done()));
  }

  get statuses(): string[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status as string);
  }

  async expectStatuses(...statuses: string[]): Promise<void> {
    await eventually(() => expect(this.statuses).toEqual(statuses));
  }

  async waitUntilClosed(): Promise<void> {
    await eventually(() => expect(this.isClosed).toBe(true));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.waitUntilClosed();
  }
}

/**
 * Returns the request line and the headers of a POST. Without `length`, the headers announce a
 * chunked body.
 */
export function headOf(path: string, headers: Readonly<Record<string, string>>, length?: number): string {
  const framing = length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines.join("")}${framing}\r\n\r\n`;
}

/** Returns the text in chunks of one byte. */
export const inOneByteChunks = (text: string): string => [...text].map((byte) => `1\r\n${byte}\r\n`).join("");
