/**
 * Genuine and forged deliveries. They test every verifier in this repository, in the client
 * libraries and in the samples of the guide.
 */
import { createHmac } from "node:crypto";

interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** The receiver's clock, in seconds since 1970. */
  readonly now: number;
}

export interface Case extends Delivery {
  readonly name: string;
  /** "misuse": the receiver is configured with a value that is not a secret. */
  readonly expected: "genuine" | "refused" | "misuse";
}

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const id = "01980000-0000-7000-8000-000000000001";
const now = 1_795_170_000;
const body = `{"id":"${id}","event":"PAYMENT_REFUNDED","order_ref":"commande-é-1","amount":"5000.00","metadata":{"total":10.50}}`;

const sign = (key: Buffer, timestamp: string, signedId = id, text = body) =>
  `v1,${createHmac("sha256", key).update(`${signedId}.${timestamp}.${text}`).digest("base64")}`;
const keyOf = (text: string) => Buffer.from(text.slice("whsec_".length), "base64");
const signature = sign(keyOf(secret), String(now));
const genuine: Delivery = {
  body,
  headers: { "webhook-id": id, "webhook-timestamp": String(now), "webhook-signature": signature },
  secrets: [secret],
  now,
};
const withHeader = (name: string, value: string): Delivery => ({
  ...genuine,
  headers: { ...genuine.headers, [`webhook-${name}`]: value },
});
const withoutHeader = (name: string): Delivery => {
  const { [`webhook-${name}`]: _, ...headers } = genuine.headers;
  return { ...genuine, headers };
};
/**
 * Returns a delivery whose timestamp is signed with the secret. Receivers reject the timestamp
 * because of its form or its distance from their clock.
 */
const signedAt = (timestamp: string): Delivery => ({
  ...genuine,
  headers: { ...genuine.headers, "webhook-timestamp": timestamp, "webhook-signature": sign(keyOf(secret), timestamp) },
});
const withSecrets = (secrets: readonly string[], key = Buffer.alloc(0)): Delivery => ({
  ...genuine,
  headers: { ...genuine.headers, "webhook-signature": sign(key, String(now)) },
  secrets,
});

const accepted: Readonly<Record<string, Delivery>> = {
  "genuine delivery": genuine,
  "receiver's clock 300 seconds behind the timestamp": { ...genuine, now: now - 300 },
  "receiver's clock 300 seconds ahead of the timestamp": { ...genuine, now: now + 300 },
  "secret is the second of two": { ...genuine, secrets: [other, secret] },
  "secret is the first of two": { ...genuine, secrets: [secret, other] },
  "another signature before the matching one": withHeader("signature", `v1,${"A".repeat(43)}= ${signature}`),
  "another signature after the matching one": withHeader("signature", `${signature} ${sign(keyOf(other), String(now))}`),
  "signatures of other versions around the matching one": withHeader("signature", `v0,x ${signature} v1a,y`),
};

const refused: Readonly<Record<string, Delivery>> = {
  "receiver's clock 301 seconds behind the timestamp": { ...genuine, now: now - 301 },
  "receiver's clock 301 seconds ahead of the timestamp": { ...genuine, now: now + 301 },
  "signed with another secret": { ...genuine, secrets: [other] },
  "one byte of the body changed": { ...genuine, body: body.replace("10.50", "10.51") },
  "body parsed and serialized again": { ...genuine, body: JSON.stringify(JSON.parse(body)) },
  "body with a line break appended": { ...genuine, body: `${body}\n` },
  "empty body": { ...genuine, body: "" },
  "no webhook-id": withoutHeader("id"),
  "no webhook-timestamp": withoutHeader("timestamp"),
  "no webhook-signature": withoutHeader("signature"),
  "empty webhook-id": withHeader("id", ""),
  "empty webhook-timestamp": withHeader("timestamp", ""),
  "empty webhook-signature": withHeader("signature", ""),
  "another id": withHeader("id", "01980000-0000-7000-8000-000000000009"),
  "id with characters outside ASCII": withHeader("id", "é".repeat(36)),
  "timestamp moved into the id": {
    ...genuine,
    headers: { ...genuine.headers, "webhook-id": `${id}.${now}`, "webhook-timestamp": "" },
  },
  "another timestamp": withHeader("timestamp", String(now + 1)),
  "timestamp of 400 digits": withHeader("timestamp", "9".repeat(400)),
  "timestamp of 5000 digits": withHeader("timestamp", "9".repeat(5_000)),
  "timestamp with digits outside ASCII": withHeader("timestamp", "١٧٩٥١٧٠٠٠٠"),
  "signature cut short": withHeader("signature", signature.slice(0, -1)),
  "signature with a character appended": withHeader("signature", `${signature}=`),
  "signature without its version": withHeader("signature", signature.slice("v1,".length)),
  "signature of another version": withHeader("signature", signature.replace("v1,", "v2,")),
  "signature in lower case": withHeader("signature", signature.toLowerCase()),
  "signature in base64url without padding": withHeader("signature", signature.replace("/", "_").replace("=", "")),
  "version without a signature": withHeader("signature", "v1,"),
  "spaces between empty signatures": withHeader("signature", `v1, ${" ".repeat(50)} v1,`),
  "signature outside ASCII, with the character count of the genuine one": withHeader("signature", `v1,${"é".repeat(44)}`),
  "signature outside ASCII, with the byte count of the genuine one": withHeader("signature", `v1,${"é".repeat(22)}`),
  "signature of characters above U+FFFF": withHeader("signature", `v1,${"😀".repeat(22)}`),
  "10000 wrong signatures": withHeader("signature", Array.from({ length: 10_000 }, () => `v1,${"A".repeat(43)}=`).join(" ")),
  ...Object.fromEntries(
    [
      ...["soon", "NaN", "Infinity", "-1", `-${now}`, `+${now}`, ` ${now}`, `${now} `, `${now}.0`, "1.79517e9", "1_795_170_000"],
      ...[`0x${now.toString(16)}`, "9".repeat(400), "9".repeat(5_000), String(2n ** 63n), String(2n ** 64n + BigInt(now))],
    ].map((text) => [`signed timestamp ${text.length > 30 ? `of ${text.length} digits` : JSON.stringify(text)}`, signedAt(text)]),
  ),
};

const misused: Readonly<Record<string, Delivery>> = {
  "no secrets configured": withSecrets([]),
  "empty secret configured, signed with the empty key": withSecrets([""]),
  "whsec_ without a key configured, signed with the empty key": withSecrets(["whsec_"]),
  "secret with a key of 3 bytes configured, signed with this key": withSecrets(["whsec_AQID"], Buffer.from([1, 2, 3])),
  "second of two secrets empty, signed with the empty key": withSecrets([secret, ""]),
};

const toCases = (deliveries: Readonly<Record<string, Delivery>>, expected: Case["expected"]): Case[] =>
  Object.entries(deliveries).map(([name, delivery]) => ({ name, ...delivery, expected }));

export const cases: readonly Case[] = [
  ...toCases(accepted, "genuine"),
  ...toCases(refused, "refused"),
  ...toCases(misused, "misuse"),
];
