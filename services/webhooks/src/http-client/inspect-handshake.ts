import { createDecipheriv, createHmac } from "node:crypto";

/** Length of a record's header (RFC 8446, section 5.1). */
export const recordHeaderBytes = 5;
const tagBytes = 16;
/** Record type of handshake messages (RFC 8446, section 5.1). */
export const handshakeType = 22;
const applicationDataType = 23;
/**
 * The start of the object identifiers of field types of elliptic curves (RFC 3279, section 2.3.5).
 * Only a key whose curve is not a named curve contains them. OpenSSL takes square roots in the
 * field when it parses such a key. A server can choose a field for which a certificate of 500 bytes
 * takes 0.6 s of CPU time, even if the certificate is not valid.
 */
const fieldType = Buffer.from("2a8648ce3d01", "hex");

/** The object identifier of a key on an elliptic curve (RFC 5480, section 2.1.1). */
const ecKey = Buffer.from("2a8648ce3d0201", "hex");
/**
 * Maximum number of such keys. Verifying a signature takes up to 5 ms of CPU time, and 16 KiB can
 * contain 60 certificates with such keys.
 */
const ecKeysMax = 8;

/**
 * Searches the handshake messages of a TLS server for keys that need much CPU time, before OpenSSL
 * parses the messages. In TLS 1.3, certificates are encrypted, so it decrypts a copy.
 */
export class HandshakeInspector {
  #messages: Buffer = Buffer.alloc(0);
  #keys: { cipher: "aes-128-gcm" | "aes-256-gcm"; key: Buffer; iv: Buffer } | undefined;
  #sequence = 0;

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
    let message: Buffer | undefined;
    if (type === handshakeType) message = record.subarray(recordHeaderBytes);
    if (type === applicationDataType) {
      message = this.#decrypt(record);
      if (!message) return false;
    }
    if (!message) return true;
    this.#messages = Buffer.concat([this.#messages, message]);
    return !this.#messages.includes(fieldType) && count(this.#messages, ecKey) <= ecKeysMax;
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

/** HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), for at most one hash block. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  return createHmac(secret.length === 32 ? "sha256" : "sha384", secret)
    .update(Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]))
    .digest()
    .subarray(0, length);
}

function count(bytes: Buffer, value: Buffer): number {
  let occurrences = 0;
  for (let at = bytes.indexOf(value); at !== -1; at = bytes.indexOf(value, at + 1)) occurrences++;
  return occurrences;
}
