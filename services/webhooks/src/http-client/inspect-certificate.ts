/** A value in DER (ITU-T X.690): its tag, its content, and its length in bytes with the header. */
interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly length: number;
}

/** Sizes of the parts of a certificate that a server can repeat. */
export interface CertificateSizes {
  /** Number of extensions, plus the number of DER values in names and lists that OpenSSL keeps. */
  readonly values: number;
  /** Number of bytes of the extension "name constraints" (RFC 5280, section 4.2.1.10). */
  readonly constraintBytes: number;
  /** Number of bytes of the names to which the constraints of other certificates apply. */
  readonly nameBytes: number;
}

const bitStringTag = 0x03;
const octetStringTag = 0x04;
const objectIdentifierTag = 0x06;
const sequenceTag = 0x30;
/** Tag of the first field of a certificate if the field is the version. */
const versionTag = 0xa0;
const extensionsTag = 0xa3;
/** Tags of a distribution point's name, and of a full name in it (RFC 5280, section 4.2.1.13). */
const pointNameTag = 0xa0;
const fullNameTag = 0xa0;

const id = (hex: string) => Buffer.from(hex, "hex").toString("latin1");
const extension = { alternativeNames: id("551d11"), nameConstraints: id("551d1e"), crlPoints: id("551d1f") };
/** Authority key identifier (RFC 5280, section 4.2.1.1), IP addresses and AS numbers (RFC 3779). */
const otherListExtensions = ["551d23", "2b06010505070107", "2b06010505070108"];
/** Extensions whose lists OpenSSL keeps as objects while the connection is open. */
const listExtensions = new Set([...Object.values(extension), ...otherListExtensions.map(id)]);
/** Bit of a tag whose value contains further values. */
const constructedBit = 0x20;
/** RSA (RFC 8017, appendix A): rsaEncryption and RSASSA-PSS. */
const rsaKeys = new Set([id("2a864886f70d010101"), id("2a864886f70d01010a")]);
/** Key on an elliptic curve (RFC 5480, section 2.1.1). */
const ecKey = id("2a8648ce3d0201");
/** P-256, P-384 and P-521. */
const curves = new Set([id("2a8648ce3d030107"), id("2b81040022"), id("2b81040023")]);
/** Ed25519 and Ed448 (RFC 8410). */
const edwardsKeys = new Set([id("2b6570"), id("2b6571")]);

/** Maximum size of an RSA modulus: 8192 bits and a zero byte. */
const modulusBytesMax = 8192 / 8 + 1;
/**
 * Maximum size of an RSA exponent. Almost all RSA keys have the exponent 65537. The CPU time of a
 * verification grows with the exponent.
 */
const exponentBytesMax = 5;
/** Maximum size of a certificate's subject or issuer. */
const distinguishedNameBytesMax = 1024;
/**
 * Maximum sum of `CertificateSizes.values` for all certificates of a handshake. OpenSSL needs up to
 * 300 bytes of memory for each value until the connection is closed. A chain of certificates with
 * 250 names has about 500 values.
 */
export const valuesMax = 1_000;

/**
 * Returns the sizes of a certificate. Throws a RangeError if OpenSSL could need much CPU time or
 * memory for the certificate, or if a part that this function reads is not valid DER. Accepts RSA
 * keys, keys on three NIST curves, and Ed25519 and Ed448 keys. Rejects long subjects and issuers.
 * Rejects CRL distribution points with a name relative to the issuer, because OpenSSL copies the
 * issuer for each of these points.
 */
export function inspectCertificate(certificate: Buffer): CertificateSizes {
  const [signed] = valuesIn(readDer(certificate));
  const fields = valuesIn(signed);
  if (fields[0]?.tag === versionTag) fields.shift();
  const [, , issuer, , subject, publicKey] = fields;
  check(issuer && subject);
  for (const name of [issuer, subject]) check(name.tag === sequenceTag && name.length <= distinguishedNameBytesMax);
  checkKey(publicKey);
  let values = countValues(issuer.content) + countValues(subject.content);
  let constraintBytes = 0;
  let nameBytes = subject.length;
  const extensions = fields.find(({ tag }) => tag === extensionsTag);
  for (const part of extensions ? valuesIn(valuesIn(extensions, extensionsTag)[0]) : []) {
    const parts = valuesIn(part);
    const name = contentOf(parts[0], objectIdentifierTag).toString("latin1");
    const value = contentOf(parts.at(-1), octetStringTag);
    values += 1 + (listExtensions.has(name) ? countValues(value) : 0);
    if (name === extension.nameConstraints) constraintBytes += value.length;
    if (name === extension.alternativeNames) nameBytes += value.length;
    if (name === extension.crlPoints) for (const point of valuesIn(readDer(value))) checkPoint(point);
  }
  return { values, constraintBytes, nameBytes };
}

/**
 * Returns the number of DER values in the bytes, including nested values. Throws a RangeError if
 * the number exceeds `valuesMax`.
 */
function countValues(bytes: Buffer): number {
  let count = 0;
  const contents = [bytes];
  for (const content of contents) {
    for (let at = 0; at < content.length; count++) {
      const value = readDer(content.subarray(at));
      if (value.tag & constructedBit) contents.push(value.content);
      at += value.length;
    }
    check(count <= valuesMax);
  }
  return count;
}

function checkKey(publicKey: DerValue | undefined): void {
  const [algorithm, key] = valuesIn(publicKey);
  const [type, parameters] = valuesIn(algorithm);
  const name = contentOf(type, objectIdentifierTag).toString("latin1");
  if (edwardsKeys.has(name)) return;
  if (name === ecKey) {
    check(curves.has(contentOf(parameters, objectIdentifierTag).toString("latin1")));
    return;
  }
  check(rsaKeys.has(name));
  // The first byte of a bit string is the number of unused bits.
  const [modulus, exponent] = valuesIn(readDer(contentOf(key, bitStringTag).subarray(1)));
  check(modulus && modulus.content.length <= modulusBytesMax);
  check(exponent && exponent.content.length <= exponentBytesMax);
}

function checkPoint(point: DerValue): void {
  const name = valuesIn(point).find(({ tag }) => tag === pointNameTag);
  if (name) check(readDer(name.content).tag === fullNameTag);
}

/**
 * Returns the content of a value with this tag. Throws a RangeError for another tag. OpenSSL
 * accepts strings of several parts, which have another tag, and would read another content.
 */
function contentOf(value: DerValue | undefined, tag: number): Buffer {
  check(value?.tag === tag);
  return value.content;
}

/** Returns the values in a value with this tag. */
function valuesIn(value: DerValue | undefined, tag = sequenceTag): DerValue[] {
  const content = contentOf(value, tag);
  const values: DerValue[] = [];
  for (let at = 0; at < content.length; ) {
    const next = readDer(content.subarray(at));
    values.push(next);
    at += next.length;
  }
  return values;
}

/**
 * Reads the first value. Throws a RangeError if its tag has more than one byte, or if its length
 * is indefinite, not minimal, longer than two bytes, or exceeds the available bytes.
 */
function readDer(bytes: Buffer): DerValue {
  const tag = bytes.readUInt8(0);
  check((tag & 0x1f) !== 0x1f);
  const first = bytes.readUInt8(1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  check(first !== 0x80 && lengthBytes <= 2);
  const size = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  check(lengthBytes === 0 || size >= (lengthBytes === 1 ? 0x80 : 0x100));
  const start = 2 + lengthBytes;
  check(start + size <= bytes.length);
  return { tag, content: bytes.subarray(start, start + size), length: start + size };
}

function check(condition: unknown): asserts condition {
  if (!condition) throw new RangeError("the certificate is not accepted");
}
