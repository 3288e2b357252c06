import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./index.ts";

const kinds: ApiKeyKind[] = ["sk_live_", "sk_test_", "ak_", "inv_"];
const aKey = fc.constantFrom(...kinds).map((kind) => ({ kind, key: generateApiKey(kind) }));

/** Examples that must not change, because issued keys must stay valid. */
const examples = [
  {
    key: "sk_test_00000000000000000000000000000000000000000001NyHUD",
    kind: "sk_test_",
    prefix: "sk_test_00000000",
    sha256: "9e80f0bc5a9a57efae5e22ba2bab3cc43e3c983632404dfbf21639651f998d3f",
  },
  {
    key: "sk_live_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v15zBTR",
    kind: "sk_live_",
    prefix: "sk_live_A1b2C3d4",
    sha256: "56864afb4cfc3e0c67cb84a0c7e40fb0bf83d67697aa9c479f0a0f78670e8c21",
  },
  {
    key: "ak_zZyYxXwWvVuUtTsSrRqQpPoOnNmMlLkKjJiIhHgGfFe1X3Q6b",
    kind: "ak_",
    prefix: "ak_zZyYxXwWvVuUt",
    sha256: "a05d64793386188c3c3039b2c5b3fee582dcaf8e0526299e9195528be526e20b",
  },
];

describe("API keys", () => {
  test.each(examples)(
    "readApiKeyKind, prefixOf and hashApiKey return the expected kind, prefix and hash for the example key $prefix…",
    ({ key, kind, prefix, sha256 }) => {
      expect(readApiKeyKind(key)).toBe(kind);
      expect(prefixOf(key)).toBe(prefix);
      expect(hashApiKey(key).toString("hex")).toBe(sha256);
    },
  );

  test("generateApiKey returns unique keys for which readApiKeyKind returns the requested kind", () => {
    const keys = new Set<string>();
    fc.assert(
      fc.property(aKey, ({ kind, key }) => {
        expect(key).toMatch(/^(sk_live_|sk_test_|ak_|inv_)[0-9A-Za-z]{49}$/);
        expect(readApiKeyKind(key)).toBe(kind);
        expect(keys.has(key)).toBe(false);
        keys.add(key);
      }),
    );
  });

  test("readApiKeyKind returns undefined for a key with one changed character", () => {
    const character = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ é\n");
    fc.assert(
      fc.property(aKey, fc.nat(), character, ({ key }, position, replacement) => {
        const at = position % key.length;
        fc.pre(key[at] !== replacement);
        expect(readApiKeyKind(key.slice(0, at) + replacement + key.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  test("readApiKeyKind returns undefined for a key with two adjacent characters swapped", () => {
    fc.assert(
      fc.property(aKey, fc.nat(), ({ key }, position) => {
        const at = position % (key.length - 1);
        const [left = "", right = ""] = key.slice(at, at + 2);
        fc.pre(left !== right);
        expect(readApiKeyKind(key.slice(0, at) + right + left + key.slice(at + 2))).toBeUndefined();
      }),
    );
  });

  test("readApiKeyKind returns undefined for a key that is truncated, extended or of an unknown kind", () => {
    fc.assert(
      fc.property(aKey, fc.integer({ min: 1, max: 48 }), fc.string({ minLength: 1 }), ({ key }, count, suffix) => {
        expect(readApiKeyKind(key.slice(0, -count))).toBeUndefined();
        expect(readApiKeyKind(key + suffix)).toBeUndefined();
        expect(readApiKeyKind(`pk_${key}`)).toBeUndefined();
      }),
    );
  });

  test("readApiKeyKind returns undefined for a random text and does not throw", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => readApiKeyKind(text) === undefined));
  });
});
