import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { inspectCertificate, valuesMax } from "./inspect-certificate.ts";

/** Length of a record's header (RFC 8446, section 5.1). */
export const recordHeaderBytes = 5;
const tagBytes = 16;
/** Record types (RFC 8446, section 5.1). */
export const handshakeType = 22;
const changeCipherSpecType = 20;
const applicationDataType = 23;
/** Types of handshake messages (RFC 8446, section 4). */
const serverHelloType = 2;
const newSessionTicketType = 4;
const certificateType = 11;
const certificateRequestType = 13;
const finishedType = 20;
/** Length of the header of a handshake message. */
const messageHeaderBytes = 4;
/** Random value of a ServerHello that requests another ClientHello (RFC 8446, section 4.1.3). */
const retryRandom = createHash("sha256").update("HelloRetryRequest").digest();
/** Maximum length of the record with the encrypted Finished message of TLS 1.2. */
const encryptedFinishedBytesMax = 128;

/** Maximum number of certificates in a message. Most servers send two or three certificates. */
const certificatesMax = 10;
/**
 * Maximum length of a CertificateRequest message. The message can list names of certificate
 * authorities. OpenSSL needs about 100 bytes of memory for each name until the connection is
 * closed. Most names have 50 to 150 bytes.
 */
const certificateRequestBytesMax = 4 * 1024;
/**
 * Maximum product of the bytes of name constraints and the bytes of names. OpenSSL compares each
 * constraint with each name, and each comparison takes 0.3 µs of CPU time.
 */
const comparedBytesMax = 4 * 1024 * 1024;

/**
 * Maximum number of session tickets that a server may send on a connection. Each takes 30 µs of
 * CPU time. Most servers send two.
 */
const ticketsMax = 8;

/**
 * Inspects the handshake messages of a TLS server before OpenSSL parses them. A server can choose
 * certificates for which OpenSSL needs seconds of CPU time and hundreds of megabytes of memory,
 * even if they are not valid. In TLS 1.3, almost all messages are encrypted, so the inspector
 * decrypts a copy. After the handshake it also inspects the records of a response, because they can
 * contain further messages: it accepts only session tickets.
 */
export class HandshakeInspector {
  /** The part of an incomplete handshake message that has arrived, and its content type. */
  #incomplete: Buffer = Buffer.alloc(0);
  #incompleteType: number | undefined;
  /** Keys of TLS 1.3. */
  #keys: { cipher: "aes-128-gcm" | "aes-256-gcm"; key: Buffer; iv: Buffer } | undefined;
  #sequence = 0;
  #hasServerHello = false;
  #hasFinished = false;
  #tickets = 0;
  /** True after the ChangeCipherSpec record. In TLS 1.2, further records are encrypted. */
  #hasChangedCipher = false;

  /**
   * Call it with each line of the TLS socket's event "keylog". The socket emits the event while
   * OpenSSL parses the message before the first record that the key encrypts.
   */
  addKeyLog(line: Buffer): void {
    const [label, , secret] = line.toString("latin1").trim().split(" ");
    if (label !== "SERVER_HANDSHAKE_TRAFFIC_SECRET" && label !== "SERVER_TRAFFIC_SECRET_0") return;
    const bytes = Buffer.from(secret ?? "", "hex");
    const [cipher, keyBytes] = bytes.length === 32 ? (["aes-128-gcm", 16] as const) : (["aes-256-gcm", 32] as const);
    this.#keys = { cipher, key: expand(bytes, "key", keyBytes), iv: expand(bytes, "iv", 12) };
    this.#sequence = 0;
  }

  /** Returns whether OpenSSL may parse a record. Call it with each record, in order. */
  accepts(record: Buffer): boolean {
    const type = record[0];
    // OpenSSL rejects a message that another type of record interrupts, except that it ignores some
    // ChangeCipherSpec records.
    if (this.#incomplete.length > 0 && type !== this.#incompleteType) return false;
    this.#incompleteType = type;
    if (type === applicationDataType) {
      if (!this.#keys) return this.#hasChangedCipher;
      const messages = this.#decrypt(record);
      return messages !== undefined && this.#acceptsMessages(messages, { isTls13: true });
    }
    // Before the ServerHello, OpenSSL ignores this record type.
    if (type === changeCipherSpecType && this.#hasServerHello) this.#hasChangedCipher = true;
    if (type !== handshakeType) return true;
    if (this.#hasChangedCipher) return this.#acceptsEncryptedFinished(record);
    return this.#acceptsMessages(record.subarray(recordHeaderBytes), { isTls13: false });
  }

  #acceptsEncryptedFinished(record: Buffer): boolean {
    if (this.#hasFinished) return false;
    this.#hasFinished = true;
    return record.length <= recordHeaderBytes + encryptedFinishedBytesMax;
  }

  #acceptsMessages(fragment: Buffer, version: { isTls13: boolean }): boolean {
    let bytes = Buffer.concat([this.#incomplete, fragment]);
    while (bytes.length >= messageHeaderBytes) {
      const type = bytes[0];
      const end = messageHeaderBytes + bytes.readUIntBE(1, 3);
      if (this.#hasFinished && type !== newSessionTicketType) return false;
      if (bytes.length < end) break;
      if (type === newSessionTicketType && ++this.#tickets > ticketsMax) return false;
      // The message begins with the version, which has two bytes, and the random value.
      if (type === serverHelloType) this.#hasServerHello = !bytes.subarray(6, 6 + retryRandom.length).equals(retryRandom);
      if (type === certificateRequestType && end > certificateRequestBytesMax) return false;
      if (type === certificateType && !acceptsCertificates(bytes.subarray(messageHeaderBytes, end), version)) return false;
      if (type === finishedType) this.#hasFinished = true;
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
  let [certificates, values, constraintBytes, nameBytes] = [0, 0, 0, 0];
  try {
    // In TLS 1.3, a context comes before the list, and extensions come after each certificate.
    let at = isTls13 ? 1 + message.readUInt8(0) : 0;
    for (at += 3; at < message.length; certificates++) {
      const start = at + 3;
      at = start + message.readUIntBE(at, 3);
      const sizes = inspectCertificate(message.subarray(start, at));
      values += sizes.values;
      constraintBytes += sizes.constraintBytes;
      nameBytes += sizes.nameBytes;
      if (isTls13) at += 2 + message.readUInt16BE(at);
    }
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  return certificates <= certificatesMax && values <= valuesMax && constraintBytes * nameBytes <= comparedBytesMax;
}

/** HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), for at most one hash block. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  return createHmac(secret.length === 32 ? "sha256" : "sha384", secret)
    .update(Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]))
    .digest()
    .subarray(0, length);
}
