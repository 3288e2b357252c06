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
 * RSA-4096 certificates. Within this limit, a server can choose certificates whose verification
 * takes 300 ms of CPU time.
 */
const handshakeBytesMax = 16 * 1024;
/**
 * Maximum number of bytes from the server for a response. `limitResponse` limits the response to
 * 32 KiB; the rest is for session tickets and TLS framing. One record can contain hundreds
 * of session tickets, each of which takes 30 µs of CPU time.
 */
const responseBytesMax = 36 * 1024;
/**
 * Maximum number of bytes that the TLS socket gets at once. After a call of `refuseMore`, it gets
 * no further slice.
 */
const sliceBytes = 4 * 1024;
/** Second byte of each record. */
const majorVersion = 3;

/** Thrown for a server whose bytes or TLS records exceed a limit. */
export class TlsLimitExceeded extends Error {}

/**
 * Stream between a TCP connection and its TLS socket. Counts the bytes and TLS records from the
 * server before OpenSSL decrypts them. OpenSSL can need 40 µs of CPU time for each record, and
 * Node.js decrypts up to 2 MiB at once. The caller cannot count the records, because some of them
 * contain no data for it, for example key updates (RFC 8446, section 4.6.3). If the server exceeds
 * a limit, the stream passes on the bytes within the limit, and then closes the connection.
 */
export class LimitedRecords extends Duplex {
  readonly #socket: Socket;
  /** Null during the handshake. */
  #tlsSocket: Pick<Socket, "bytesWritten"> | null = null;
  #writtenBytes = 0;
  #bytes = 0;
  #records = 0;
  /** Header of the next record (RFC 8446, section 5.1), as far as it has arrived. */
  #header: number[] = [];
  /** Number of bytes of the current record that have not arrived. */
  #bytesLeft = 0;
  #isFull = false;
  readonly #inspector = new HandshakeInspector();
  /** The part of an incomplete record of the handshake that has arrived. */
  #unparsed: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
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
    this.#beginResponse(tlsSocket.bytesWritten);
  }

  #beginResponse(writtenBytes: number): void {
    this.#writtenBytes = writtenBytes;
    this.#bytes = 0;
    this.#records = 0;
  }

  /** Passes on no more bytes and closes the connection. */
  refuseMore(): void {
    this.#isFull = true;
    // The caller reads the bytes within the limit first, because the response's status may be in
    // them.
    setImmediate(() => this.destroy(new TlsLimitExceeded()));
  }

  #receive(chunk: Buffer): void {
    if (this.#isFull) return;
    const writtenBytes = this.#tlsSocket?.bytesWritten ?? 0;
    if (writtenBytes !== this.#writtenBytes) this.#beginResponse(writtenBytes);
    const allowed = this.#countAllowed(chunk);
    const bytes = this.#passHandshake(chunk.subarray(0, allowed));
    for (let at = 0; at < bytes.length && !this.#isFull; at += sliceBytes)
      if (!this.push(bytes.subarray(at, at + sliceBytes))) this.#socket.pause();
    if (allowed < chunk.length && !this.#isFull) this.refuseMore();
  }

  /** Call it with each line of the TLS socket's event "keylog". */
  addKeyLog(line: Buffer): void {
    this.#inspector.addKeyLog(line);
  }

  /**
   * During the handshake, passes on each complete record that the inspector accepts. OpenSSL parses
   * a record during the call of `push`. The inspector therefore has the key of the next record, and
   * `endHandshake` is called before the next record. Returns the bytes after the handshake.
   */
  #passHandshake(chunk: Buffer): Buffer {
    if (this.#tlsSocket && this.#unparsed.length === 0) return chunk;
    let bytes = Buffer.concat([this.#unparsed, chunk]);
    this.#unparsed = Buffer.alloc(0);
    while (!this.#tlsSocket && !this.#isFull && !this.destroyed) {
      const end = bytes.length < recordHeaderBytes ? Number.POSITIVE_INFINITY : recordHeaderBytes + bytes.readUInt16BE(3);
      if (bytes.length >= recordHeaderBytes && bytes[1] !== majorVersion) {
        // The server's response is not TLS. OpenSSL needs only these bytes to report an error.
        this.push(bytes.subarray(0, recordHeaderBytes));
        this.refuseMore();
        return Buffer.alloc(0);
      }
      if (bytes.length < end) {
        this.#unparsed = bytes;
        return Buffer.alloc(0);
      }
      const record = bytes.subarray(0, end);
      if (this.#inspector.accepts(record)) this.push(record);
      else this.refuseMore();
      bytes = bytes.subarray(end);
    }
    return bytes;
  }

  /** Counts a chunk's bytes and records. Returns the number of its bytes within the limits. */
  #countAllowed(chunk: Buffer): number {
    const bytesMax = this.#tlsSocket ? responseBytesMax : handshakeBytesMax;
    const end = Math.min(chunk.length, bytesMax - this.#bytes);
    this.#bytes += end;
    for (let at = 0; at < end; ) {
      if (this.#bytesLeft > 0) {
        const count = Math.min(this.#bytesLeft, end - at);
        this.#bytesLeft -= count;
        at += count;
        continue;
      }
      if (this.#header.length === 0 && this.#records >= recordsMax) return at;
      this.#header.push(chunk.readUInt8(at));
      at++;
      if (this.#header.length < recordHeaderBytes) continue;
      const [type, , , high = 0, low = 0] = this.#header;
      // After the handshake, TLS 1.2 uses this type only for renegotiation, and TLS 1.3 never. One
      // record can contain thousands of requests for renegotiation. Each takes 0.4 ms of CPU time.
      if (this.#tlsSocket && type === handshakeType) return Math.max(0, at - recordHeaderBytes);
      this.#bytesLeft = high * 256 + low;
      this.#header = [];
      this.#records++;
    }
    return end;
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
