import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSignedByProvider } from "./callback-signature.ts";

const secret = "provider-callback-secret";
const body = Buffer.from(`{"event_id":"e1","type":"application.completed"}`);
const time = 1_795_170_000;
const at = (seconds: number) => new Date(seconds * 1000);
const v1 = (key = secret, bytes: Uint8Array = body, seconds = time) =>
  `v1=${createHmac("sha256", key).update(`${seconds}.`).update(bytes).digest("hex")}`;
const header = `t=${time},v1=017ea3540fbd83b1f2b57648e69b9e52104c886d97ef6d2ee37621db6d68a45d`;

describe("isSignedByProvider", () => {
  test("accepts the test vector of the specification", () => {
    expect(isSignedByProvider(body, header, [secret], at(time))).toBe(true);
  });

  test.each([-300, 300])("accepts a time %i seconds from now", (seconds) => {
    expect(isSignedByProvider(body, header, [secret], at(time + seconds))).toBe(true);
  });

  test.each([-301, 301])("rejects a time %i seconds from now", (seconds) => {
    expect(isSignedByProvider(body, header, [secret], at(time + seconds))).toBe(false);
  });

  test("accepts one valid signature of several, by one of several secrets", () => {
    const rotating = `t=${time},${v1("new")},${v1()}`;
    expect(isSignedByProvider(body, rotating, ["old", secret], at(time))).toBe(true);
    expect(isSignedByProvider(body, rotating, ["new"], at(time))).toBe(true);
    expect(isSignedByProvider(body, rotating, ["other"], at(time))).toBe(false);
  });

  test.each([
    ["an empty header", ""],
    ["no time", v1()],
    ["no signature", `t=${time}`],
    ["another version", header.replace("v1=", "v0=")],
    ["a short signature", header.slice(0, -2)],
    ["a time that is not a number", header.replace("t=", "t=x")],
    ["another time", header.replace(`t=${time}`, `t=${time + 1}`)],
    ["a signature with an empty secret", `t=${time},${v1("")}`],
  ])("rejects %s", (_name, text) => {
    expect(isSignedByProvider(body, text, [secret], at(time))).toBe(false);
  });

  test("rejects a body with any changed byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, place, change) => {
        const altered = Uint8Array.from(bytes);
        const index = place % bytes.length;
        altered[index] = (altered[index] as number) ^ change;
        const text = `t=${time},${v1(secret, bytes)}`;
        expect(isSignedByProvider(bytes, text, [secret], at(time))).toBe(true);
        expect(isSignedByProvider(altered, text, [secret], at(time))).toBe(false);
      }),
    );
  });
});
