import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSignedByProvider } from "./callback-signature.ts";

const secret = "provider-callback-secret";
const body = Buffer.from(`{"event_id":"e1","type":"application.completed"}`);
const time = 1_795_170_000;
const dateOf = (seconds: number) => new Date(seconds * 1000);
const signV1 = (key = secret, bytes: Uint8Array = body, seconds = time) =>
  `v1=${createHmac("sha256", key).update(`${seconds}.`).update(bytes).digest("hex")}`;
const header = `t=${time},v1=017ea3540fbd83b1f2b57648e69b9e52104c886d97ef6d2ee37621db6d68a45d`;

describe("isSignedByProvider", () => {
  test("isSignedByProvider accepts the signature of the documented example", () => {
    expect(isSignedByProvider(body, header, [secret], dateOf(time))).toBe(true);
  });

  test.each([-300, 300])("isSignedByProvider accepts a signature whose time differs by %i seconds", (seconds) => {
    expect(isSignedByProvider(body, header, [secret], dateOf(time + seconds))).toBe(true);
  });

  test.each([-301, 301])("isSignedByProvider rejects a signature whose time differs by %i seconds", (seconds) => {
    expect(isSignedByProvider(body, header, [secret], dateOf(time + seconds))).toBe(false);
  });

  test("isSignedByProvider accepts a header with two signatures if one of the signatures matches one of the secrets", () => {
    const rotationHeader = `t=${time},${signV1("new")},${signV1()}`;
    expect(isSignedByProvider(body, rotationHeader, ["old", secret], dateOf(time))).toBe(true);
    expect(isSignedByProvider(body, rotationHeader, ["new"], dateOf(time))).toBe(true);
    expect(isSignedByProvider(body, rotationHeader, ["other"], dateOf(time))).toBe(false);
  });

  test.each([
    ["an empty text", ""],
    ["no time", signV1()],
    ["no signature", `t=${time}`],
    ["a signature of another version", header.replace("v1=", "v0=")],
    ["a short signature", header.slice(0, -2)],
    ["a time that is not a number", header.replace("t=", "t=x")],
    ["a changed time", header.replace(`t=${time}`, `t=${time + 1}`)],
    ["a signature with an empty secret", `t=${time},${signV1("")}`],
  ])("isSignedByProvider rejects a header with %s", (_name, invalidHeader) => {
    expect(isSignedByProvider(body, invalidHeader, [secret], dateOf(time))).toBe(false);
  });

  test("isSignedByProvider rejects a body with any changed byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, position, change) => {
        const alteredBytes = Uint8Array.from(bytes);
        const index = position % bytes.length;
        alteredBytes[index] = (alteredBytes[index] as number) ^ change;
        const invalidHeader = `t=${time},${signV1(secret, bytes)}`;
        expect(isSignedByProvider(bytes, invalidHeader, [secret], dateOf(time))).toBe(true);
        expect(isSignedByProvider(alteredBytes, invalidHeader, [secret], dateOf(time))).toBe(false);
      }),
    );
  });
});
