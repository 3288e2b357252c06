import { createDecipheriv, createHmac } from "node:crypto";
import { inspectCertificate } from "./inspect-certificate.ts";

/** Length of a record's header (RFC 8446, section 5.1). */
export const recordHeaderBytes = 5;
const tagBytes = 16;
/** Record types (RFC 8446, section 5.1). */
export const handshakeType = 22;
const changeCipherSpecType = 20;
const applicationDataType = 23;
/** Types of handshake messages (RFC 8446, section 4). */
const serverHelloType = 2;
const certificateType = 11;
/** Length of the header of a handshake message. */
const messageHeaderBytes = 4;

/** Maximum number of certificates in a message. Most servers send two or three certificates. */
const certificatesMax = 10;
/**
 * Maximum product of the bytes of name constraints and the bytes of names. OpenSSL compares each
 * constraint with each name, and each comparison takes 0.3 µs of CPU time.
 */
const comparedBytesMax = 4 * 1024 * 1024;

/**
 * Inspects the certificates of a TLS server before OpenSSL parses them. A server can choose
 * certificates for which OpenSSL needs seconds of CPU time and hundreds of megabytes of memory,
 * even if they are not valid. In TLS 1.3, certificates are encrypted, so the inspector decrypts a
 * copy.
 */
export class HandshakeInspector {
  /** The part of an incomplete handshake message that has arrived. */
  #incomplete: Buffer = Buffer.alloc(0);
  #keys: { cipher: "aes-128-gcm" | "aes-256-gcm"; key: Buffer; iv: Buffer } | undefined;
  #sequence = 0;
  #hasServerHello = false;
  /**
   * In TLS 1.2, true if further handshake records are encrypted. Encrypted records contain no
   * certificate.
   */
  #isEncrypted = false;

  /**
   * Call it with each line of the TLS socket's event "keylog". The socket emits the event while
   * OpenSSL parses the ServerHello.
   */
  addKeyLog(line: Buffer): void {
    const [label, , secret] = line.toString("latin1").trim().split(" ");
    if (label !== "SERVER_HANDSHAKE_TRAFFIC_SECRET" || !secret) return;
    const bytes = Buffer.from(secret, "hex");
    const [cipher, keyBytes] = bytes.length === 32 ? (["aes-128-gcm", 16] as const) : (["aes-256-gcm", 32] as const);
    this.#keys = { cipher, key: expand(bytes, "key", keyBytes), iv: expand(bytes, "iv", 12) };
  }

  /**
   * Returns whether OpenSSL may parse a record. Call it with each record of the handshake, in
   * order.
   */
  accepts(record: Buffer): boolean {
    const type = record[0];
    if (type === applicationDataType) {
      const messages = this.#decrypt(record);
      return messages !== undefined && this.#acceptsMessages(messages, { isTls13: true });
    }
    // Before the ServerHello, OpenSSL ignores this record type.
    if (type === changeCipherSpecType && this.#hasServerHello) this.#isEncrypted = true;
    if (type !== handshakeType || this.#isEncrypted) return true;
    return this.#acceptsMessages(record.subarray(recordHeaderBytes), { isTls13: false });
  }

  #acceptsMessages(fragment: Buffer, version: { isTls13: boolean }): boolean {
    let bytes = Buffer.concat([this.#incomplete, fragment]);
    while (bytes.length >= messageHeaderBytes) {
      const end = messageHeaderBytes + bytes.readUIntBE(1, 3);
      if (bytes.length < end) break;
      const type = bytes[0];
      if (type === serverHelloType) this.#hasServerHello = true;
      if (type === certificateType && !acceptsCertificates(bytes.subarray(messageHeaderBytes, end), version)) return false;
      bytes = bytes.subarray(end);
    }
    this.#incomplete = bytes;
    return true;
  }

  /**
   * Returns the handshake messages of an encrypted record (RFC 8446, section 5.2). Returns
   * undefined if the record is not authentic.
   */
  #decrypt(record: Buffer): Buffer | undefined {
    if (!this.#keys || record.length < recordHeaderBytes + tagBytes) return undefined;
    const { cipher, key, iv } = this.#keys;
    const nonce = Buffer.from(iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence++) >>> 0, 8);
    const decipher = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(record.subarray(0, recordHeaderBytes));
    decipher.setAuthTag(record.subarray(-tagBytes));
    const inner = decipher.update(record.subarray(recordHeaderBytes, -tagBytes));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    // The content type is the last byte that is not padding.
    let end = inner.length;
    while (end > 0 && inner[end - 1] === 0) end--;
    return inner[end - 1] === handshakeType ? inner.subarray(0, end - 1) : Buffer.alloc(0);
  }
}

/**
 * Returns whether OpenSSL may parse the content of a Certificate message (RFC 5246, section 7.4.2;
 * RFC 8446, section 4.4.2).
 */
function acceptsCertificates(message: Buffer, { isTls13 }: { isTls13: boolean }): boolean {
  let [certificates, constraintBytes, nameBytes] = [0, 0, 0];
  try {
    // In TLS 1.3, a context comes before the list, and extensions come after each certificate.
    let at = isTls13 ? 1 + message.readUInt8(0) : 0;
    for (at += 3; at < message.length; certificates++) {
      const start = at + 3;
      at = start + message.readUIntBE(at, 3);
      const names = inspectCertificate(message.subarray(start, at));
      constraintBytes += names.constraintBytes;
      nameBytes += names.nameBytes;
      if (isTls13) at += 2 + message.readUInt16BE(at);
    }
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  return certificates <= certificatesMax && constraintBytes * nameBytes <= comparedBytesMax;
}

/** HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), for at most one hash block. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  return createHmac(secret.length === 32 ? "sha256" : "sha384", secret)
    .update(Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]))
    .digest()
    .subarray(0, length);
}
