import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { HandshakeInspector, handshakeType, recordHeaderBytes } from "./inspect-handshake.ts";

/**
 * Maximum number of TLS records that the client decrypts in the handshake, and for each response. A
 * response of 32 KiB usually has three records. Some servers send each line in a separate record.
 */
const recordsMax = 64;
/**
 * Maximum number of bytes from the server during the handshake. The limit allows a chain of four
 * RSA-4096 certificates.
 */
const handshakeBytesMax = 16 * 1024;
/**
 * Maximum number of bytes from the server for a response. `limitResponse` limits the response to
 * 32 KiB; the rest is for session tickets and TLS framing.
 */
const responseBytesMax = 36 * 1024;
/** Second byte of each record. */
const majorVersion = 3;

/** Thrown if a server's bytes or TLS records exceed a limit, or its certificates are rejected. */
export class TlsLimitExceeded extends Error {}

/**
 * Stream between a TCP connection and its TLS socket. Passes on one complete record at a time
 * (RFC 8446, section 5.1), and counts the bytes and records from the server before OpenSSL decrypts
 * them. OpenSSL can need 40 µs of CPU time for each record, and Node.js decrypts up to 2 MiB at
 * once. The caller cannot count the records, because some of them contain no data for it, for
 * example key updates (RFC 8446, section 4.6.3). If the server exceeds a limit, the stream passes
 * on the records within the limit, and then closes the connection. It passes on only records that
 * `HandshakeInspector` accepts.
 */
export class LimitedRecords extends Duplex {
  readonly #socket: Socket;
  /** Null during the handshake. */
  #tlsSocket: Pick<Socket, "bytesWritten"> | null = null;
  #writtenBytes = 0;
  #bytes = 0;
  #records = 0;
  /** The part of an incomplete record that has arrived. */
  #incomplete: Buffer = Buffer.alloc(0);
  #isFull = false;
  readonly #onHandshakeCpu: (cpuMs: number) => void;
  /** CPU time of the thread at the start of the current record of the handshake. */
  #cpuSince: NodeJS.CpuUsage | undefined;
  readonly #inspector = new HandshakeInspector();

  /** Calls `onHandshakeCpu` with the CPU time of each record of the handshake, in milliseconds. */
  constructor(socket: Socket, onHandshakeCpu: (cpuMs: number) => void = () => {}) {
    super();
    this.#socket = socket;
    this.#onHandshakeCpu = onHandshakeCpu;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.once("end", () => this.push(null));
    socket.once("error", (error) => this.destroy(error));
    socket.once("close", () => this.destroy());
  }

  /**
   * Ends the limits of the handshake and applies the limits of responses. Each write to the TLS
   * socket is a new request, so the stream then counts from zero.
   */
  endHandshake(tlsSocket: Pick<Socket, "bytesWritten">): void {
    this.#tlsSocket = tlsSocket;
    // OpenSSL ends the handshake while it parses a record, and the request can begin before that
    // call returns.
    this.#reportCpu();
    this.#beginResponse(tlsSocket.bytesWritten);
  }

  #beginResponse(writtenBytes: number): void {
    this.#writtenBytes = writtenBytes;
    this.#bytes = 0;
    this.#records = 0;
  }

  /** Passes on no more bytes and closes the connection. */
  #refuseMore(): void {
    this.#isFull = true;
    // The caller reads the records within the limit first, because the response's status may be in
    // them.
    setImmediate(() => this.destroy(new TlsLimitExceeded()));
  }

  /** Call it with each line of the TLS socket's event "keylog". */
  addKeyLog(line: Buffer): void {
    this.#inspector.addKeyLog(line);
  }

  #receive(chunk: Buffer): void {
    if (this.#isFull) return;
    const writtenBytes = this.#tlsSocket?.bytesWritten ?? 0;
    if (writtenBytes !== this.#writtenBytes) this.#beginResponse(writtenBytes);
    let bytes = Buffer.concat([this.#incomplete, chunk]);
    // OpenSSL parses a record during the call of `push`. When the loop reaches the next record, the
    // inspector therefore has the key for it, and the connector has called `endHandshake` if the
    // handshake has ended.
    while (bytes.length >= recordHeaderBytes && !this.destroyed) {
      if (bytes[1] !== majorVersion) {
        // The server's response is not TLS. OpenSSL needs only these bytes to report an error.
        this.push(bytes.subarray(0, recordHeaderBytes));
        this.#refuseMore();
        return;
      }
      const length = recordHeaderBytes + bytes.readUInt16BE(3);
      const isAllowed = this.#allows(bytes[0], length);
      if (isAllowed && bytes.length < length) break;
      if (!isAllowed || !this.#pass(bytes.subarray(0, length))) {
        this.#refuseMore();
        return;
      }
      bytes = bytes.subarray(length);
    }
    this.#incomplete = bytes;
  }

  /**
   * Counts a record, and passes it on if the inspector accepts it. Returns whether the inspector
   * accepted it.
   */
  #pass(record: Buffer): boolean {
    this.#bytes += record.length;
    this.#records++;
    if (!this.#tlsSocket) this.#cpuSince = process.threadCpuUsage();
    const isAccepted = this.#inspector.accepts(record);
    if (isAccepted && !this.push(record)) this.#socket.pause();
    this.#reportCpu();
    return isAccepted;
  }

  #reportCpu(): void {
    if (!this.#cpuSince) return;
    const { user, system } = process.threadCpuUsage(this.#cpuSince);
    this.#cpuSince = undefined;
    this.#onHandshakeCpu((user + system) / 1000);
  }

  /** Returns whether the limits allow a record with this content type and length in bytes. */
  #allows(type: number | undefined, length: number): boolean {
    // After the handshake, TLS 1.2 uses this type only for renegotiation, and TLS 1.3 never. One
    // record can contain thousands of requests for renegotiation. Each takes 0.4 ms of CPU time.
    if (this.#tlsSocket && type === handshakeType) return false;
    const bytesMax = this.#tlsSocket ? responseBytesMax : handshakeBytesMax;
    return this.#records < recordsMax && this.#bytes + length <= bytesMax;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    // The socket's event "error" reports a failure.
    this.#socket.write(chunk, () => callback());
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}
