import { createCipheriv, createHmac } from "node:crypto";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { HandshakeInspector } from "./inspect-handshake.ts";

/** Encodes a value in DER. The length field has one, two or three bytes. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...header]), content]);
}
const hex = (text: string) => Buffer.from(text, "hex");
const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const objectId = (text: string) => der(0x06, hex(text));
const integer = (bytes: number) => der(0x02, Buffer.alloc(bytes, 1));
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const nothing = Buffer.alloc(0);

const rsa = (modulusBytes: number, exponentBytes: number, type = "2a864886f70d010101") =>
  sequence(sequence(objectId(type), der(0x05)), bits(sequence(integer(modulusBytes), integer(exponentBytes))));
const ec = (parameters: Buffer) => sequence(sequence(objectId("2a8648ce3d0201"), parameters), bits(Buffer.alloc(65)));
const p256 = ec(objectId("2a8648ce3d030107"));
const dsa = sequence(sequence(objectId("2a8648ce380401"), sequence(integer(20))), bits(integer(20)));
const extension = (type: string, value: Buffer) => sequence(objectId(type), der(0x04, value));
/** A CRL distribution point whose name has the given type. */
const crlPoint = (nameTag: number) => extension("551d1f", sequence(sequence(der(0xa0, der(nameTag)))));
const constraints = (bytes: number) => extension("551d1e", sequence(der(0x82, Buffer.alloc(bytes))));
const names = (bytes: number) => extension("551d11", sequence(der(0x82, Buffer.alloc(bytes))));
/** An extension with a list of empty values. */
const list = (type: string, length: number) => extension(type, sequence(...Array(length).fill(der(0x82))));

/** A certificate without a valid signature. */
function certificate({
  key = p256,
  issuer = sequence(),
  subject = sequence(),
  extensions = [] as readonly Buffer[],
} = {}): Buffer {
  const fields = [der(0xa0, integer(1)), integer(8), sequence(), issuer, sequence(), subject, key];
  return sequence(sequence(...fields, der(0xa3, sequence(...extensions))), sequence(), bits(nothing));
}

const withLength = (bytes: Buffer) => Buffer.concat([Buffer.from([0, bytes.length >> 8, bytes.length & 0xff]), bytes]);
const message = (type: number, content: Buffer) => Buffer.concat([Buffer.from([type]), withLength(content)]);
const record = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, 3, 3, content.length >> 8, content.length & 0xff]), content]);
const serverHello = record(22, message(2, Buffer.alloc(40)));
const changeCipherSpec = record(20, Buffer.from([1]));
/** A Certificate message of TLS 1.2. */
const chain = (...certificates: readonly Buffer[]) => message(11, withLength(Buffer.concat(certificates.map(withLength))));
const accepts = (...certificates: readonly Buffer[]) => new HandshakeInspector().accepts(record(22, chain(...certificates)));

test("the handshake inspector accepts each root certificate of Node.js", () => {
  const certificates = rootCertificates.map((pem) => Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ""), "base64"));
  expect(certificates.length).toBeGreaterThan(100);
  expect(certificates.filter((root) => !accepts(root))).toEqual([]);
});

test.each([
  ["an RSA key of 8192 bits", rsa(1025, 3)],
  ["an RSASSA-PSS key", rsa(257, 3, "2a864886f70d01010a")],
  ["a P-256 key", p256],
  ["a P-384 key", ec(objectId("2b81040022"))],
  ["a P-521 key", ec(objectId("2b81040023"))],
  ["an Ed25519 key", sequence(sequence(objectId("2b6570")), bits(nothing))],
  ["an Ed448 key", sequence(sequence(objectId("2b6571")), bits(nothing))],
])("the handshake inspector accepts %s", (_, key) => {
  expect(accepts(certificate({ key }))).toBe(true);
});

test.each([
  ["an RSA key of more than 8192 bits", { key: rsa(1026, 3) }],
  ["an RSA key with an exponent of 6 bytes", { key: rsa(257, 6) }],
  ["a DSA key", { key: dsa }],
  ["a key on a curve without a name", { key: ec(sequence(integer(1))) }],
  ["a key on a curve that is not a NIST curve", { key: ec(objectId("2b81040027")) }],
  ["a subject of more than 1 KiB", { subject: sequence(Buffer.alloc(1024)) }],
  ["an issuer of more than 1 KiB", { issuer: sequence(Buffer.alloc(1024)) }],
  ["a CRL distribution point with a name relative to the issuer", { extensions: [crlPoint(0xa1)] }],
  ["an extension in a string of several parts", { extensions: [sequence(objectId("551d1f"), der(0x24, der(0x04, sequence())))] }],
  [
    "an RSA key in a string of several parts",
    { key: sequence(sequence(objectId("2a864886f70d010101")), der(0x23, rsa(257, 3))) },
  ],
])("the handshake inspector rejects %s, also after another certificate", (_, parts) => {
  expect(accepts(certificate(parts))).toBe(false);
  expect(accepts(certificate(), certificate(parts))).toBe(false);
});

test("the handshake inspector accepts a CRL distribution point with a full name", () => {
  expect(accepts(certificate({ extensions: [crlPoint(0xa0)] }))).toBe(true);
});

test("the handshake inspector rejects an eleventh certificate, and too many comparisons of constraints with names", () => {
  const certificates = Array.from({ length: 10 }, () => certificate());
  expect(accepts(...certificates)).toBe(true);
  expect(accepts(...certificates, certificate())).toBe(false);
  const leaf = certificate({ extensions: [names(4_000)] });
  const issuer = (bytes: number) => certificate({ extensions: [constraints(bytes)] });
  expect(accepts(leaf, issuer(900))).toBe(true);
  expect(accepts(leaf, issuer(600), issuer(600))).toBe(false);
});

test.each([
  ["alternative names", (length: number) => ({ extensions: [list("551d11", length - 2)] })],
  ["name constraints", (length: number) => ({ extensions: [list("551d1e", length - 2)] })],
  [
    "CRL distribution points",
    (length: number) => ({ extensions: [extension("551d1f", sequence(...Array(length - 2).fill(sequence())))] }),
  ],
  ["authority key identifiers", (length: number) => ({ extensions: [list("551d23", length - 2)] })],
  ["IP address blocks", (length: number) => ({ extensions: [list("2b06010505070107", length - 2)] })],
  ["AS numbers", (length: number) => ({ extensions: [list("2b06010505070108", length - 2)] })],
  ["other extensions", (length: number) => ({ extensions: Array(length).fill(extension("2a03", nothing)) })],
  [
    "parts of names",
    (length: number) => ({
      issuer: sequence(...Array(length / 2).fill(der(0x31))),
      subject: sequence(...Array(length / 2).fill(der(0x31))),
    }),
  ],
] as const)(
  "the handshake inspector accepts 1 000 values (%s) in all certificates of a handshake together, and rejects more",
  (_, parts) => {
    expect(accepts(certificate(parts(500)), certificate(parts(500)))).toBe(true);
    expect(accepts(certificate(parts(500)), certificate(parts(502)))).toBe(false);
  },
);

test("the handshake inspector rejects a certificate request of more than 4 KiB", () => {
  const request = (bytes: number) => record(22, message(13, Buffer.alloc(bytes - 4)));
  expect(new HandshakeInspector().accepts(request(4096))).toBe(true);
  expect(new HandshakeInspector().accepts(request(4097))).toBe(false);
});

test.each([
  ["an indefinite length", hex("308000000000")],
  ["a length that is not minimal", Buffer.concat([hex("3083000100"), Buffer.alloc(256)])],
  ["a tag of more than one byte", hex("3f81010100")],
  ["a length beyond its end", hex("30820100")],
  ["no content", nothing],
])("the handshake inspector rejects a certificate with %s", (_, bytes) => {
  expect(accepts(bytes)).toBe(false);
});

describe("the handshake inspector", () => {
  const dsaChain = chain(certificate({ key: dsa }));

  test("the handshake inspector rejects a DSA certificate in a message of several records", () => {
    const inspector = new HandshakeInspector();
    expect(inspector.accepts(record(22, dsaChain.subarray(0, 50)))).toBe(true);
    expect(inspector.accepts(record(22, dsaChain.subarray(50, -1)))).toBe(true);
    expect(inspector.accepts(record(22, dsaChain.subarray(-1)))).toBe(false);
  });

  test("the handshake inspector rejects a DSA certificate in the record of the ServerHello", () => {
    const hello = serverHello.subarray(5);
    expect(new HandshakeInspector().accepts(record(22, Buffer.concat([hello, dsaChain])))).toBe(false);
  });

  test("the handshake inspector ignores a ChangeCipherSpec before the ServerHello, as OpenSSL does", () => {
    const inspector = new HandshakeInspector();
    for (const earlier of [changeCipherSpec, serverHello]) expect(inspector.accepts(earlier)).toBe(true);
    expect(inspector.accepts(record(22, dsaChain))).toBe(false);
  });

  test("the handshake inspector rejects a DSA certificate after a HelloRetryRequest, a ChangeCipherSpec and the ServerHello", () => {
    const retryRandom = hex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c");
    const retry = message(2, Buffer.concat([hex("0303"), retryRandom, Buffer.alloc(6)]));
    const inspector = new HandshakeInspector();
    for (const earlier of [record(22, retry), changeCipherSpec, serverHello]) expect(inspector.accepts(earlier)).toBe(true);
    expect(inspector.accepts(record(22, dsaChain))).toBe(false);
  });

  test("the handshake inspector rejects a record of another type within a message", () => {
    const inspector = new HandshakeInspector();
    expect(inspector.accepts(record(22, serverHello.subarray(5, 6)))).toBe(true);
    expect(inspector.accepts(changeCipherSpec)).toBe(false);
  });

  test("the handshake inspector accepts one short encrypted handshake record in TLS 1.2", () => {
    for (const [length, expected] of [
      [128, true],
      [129, false],
    ] as const) {
      const inspector = new HandshakeInspector();
      for (const earlier of [serverHello, changeCipherSpec]) expect(inspector.accepts(earlier)).toBe(true);
      expect(inspector.accepts(record(22, Buffer.alloc(length)))).toBe(expected);
      expect(inspector.accepts(record(22, Buffer.alloc(length)))).toBe(false);
      expect(inspector.accepts(record(23, Buffer.alloc(length)))).toBe(true);
    }
  });
});

describe("the handshake inspector with a TLS 1.3 connection", () => {
  /** Returns a function that encrypts a record with the server's key for responses. */
  function startResponse() {
    const inspector = new HandshakeInspector();
    const secret = Buffer.alloc(32, 7);
    const expandLabel = (label: string, length: number) => {
      const name = Buffer.from(`tls13 ${label}`);
      const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
      return createHmac("sha256", secret).update(info).digest().subarray(0, length);
    };
    let sequence = 0;
    const send = (type: number, content: Buffer) => {
      const inner = Buffer.concat([content, Buffer.from([type])]);
      const header = Buffer.from([23, 3, 3, (inner.length + 16) >> 8, (inner.length + 16) & 0xff]);
      const nonce = expandLabel("iv", 12);
      nonce.writeUInt8(nonce.readUInt8(11) ^ sequence++, 11);
      const cipher = createCipheriv("aes-128-gcm", expandLabel("key", 16), nonce, { authTagLength: 16 }).setAAD(header);
      const encrypted = Buffer.concat([cipher.update(inner), cipher.final()]);
      return inspector.accepts(Buffer.concat([header, encrypted, cipher.getAuthTag()]));
    };
    const keyLog = (label: string) => inspector.addKeyLog(Buffer.from(`${label} 00 ${secret.toString("hex")}\n`));
    keyLog("SERVER_HANDSHAKE_TRAFFIC_SECRET");
    expect(send(22, message(20, Buffer.alloc(32)))).toBe(true);
    sequence = 0;
    keyLog("SERVER_TRAFFIC_SECRET_0");
    return send;
  }
  const ticket = message(4, Buffer.alloc(50));

  test("the handshake inspector accepts responses and eight session tickets after the handshake", () => {
    const send = startResponse();
    expect(send(22, Buffer.concat([ticket, ticket]))).toBe(true);
    for (let i = 2; i < 8; i++) {
      expect(send(23, Buffer.from("HTTP/1.1 200 OK"))).toBe(true);
      expect(send(22, ticket)).toBe(true);
    }
    expect(send(22, ticket)).toBe(false);
  });

  test.each([
    ["nine session tickets in one record", Buffer.concat(Array.from({ length: 9 }, () => ticket))],
    ["a key update", message(24, Buffer.from([0]))],
    ["a certificate request", message(13, Buffer.alloc(20))],
  ])("the handshake inspector rejects %s after the handshake", (_, content) => {
    expect(startResponse()(22, content)).toBe(false);
  });
});
