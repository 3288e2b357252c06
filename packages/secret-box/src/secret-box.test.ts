import { createLogger } from "@amana/runtime";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretBox, decryptIfReadable } from "./secret-box.ts";

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });

test("createSecretBox decrypts each secret that it encrypted, and no ciphertext contains the secret", () => {
  const box = createSecretBox([key("k1", 1)]);
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), (secret) => {
      const ciphertext = box.encrypt(secret, "owner");
      expect(ciphertext).not.toContain(secret);
      expect(box.decrypt(ciphertext, "owner")).toBe(secret);
    }),
  );
});

test("`decrypt` of a secret box throws for a wrong owner, an altered ciphertext or a wrong key id", () => {
  const box = createSecretBox([key("k1", 1), key("k2", 1)]);
  const ciphertext = box.encrypt("whsec_secret", "a");
  expect(() => box.decrypt(ciphertext, "b")).toThrow();
  expect(() => box.decrypt(ciphertext.replace("k1:", "k2:"), "a")).toThrow();
  const altered = Buffer.from(ciphertext.slice(3), "base64");
  altered[14] = (altered[14] as number) ^ 1;
  expect(() => box.decrypt(`k1:${altered.toString("base64")}`, "a")).toThrow();
});

test("createSecretBox encrypts with the first key, decrypts with each key, and throws for a secret whose key was removed", () => {
  const oldCiphertext = createSecretBox([key("k1", 1)]).encrypt("whsec_secret", "a");
  const box = createSecretBox([key("k2", 2), key("k1", 1)]);
  expect(box.decrypt(oldCiphertext, "a")).toBe("whsec_secret");
  expect(box.encrypt("whsec_secret", "a")).toMatch(/^k2:/);
  expect(() => createSecretBox([key("k2", 2)]).decrypt(oldCiphertext, "a")).toThrow(/encryption key "k1"/);
});

test("decryptIfReadable returns undefined for a secret that cannot be decrypted, and formerKeyIds lists the ids of all keys except the first", () => {
  const [removed, box] = [createSecretBox([key("k0", 0)]), createSecretBox([key("k2", 2), key("k1", 1)])];
  const logger = createLogger("test", "silent");
  expect(decryptIfReadable(box, box.encrypt("whsec_secret", "a"), "a", logger)).toBe("whsec_secret");
  for (const unreadable of [removed.encrypt("whsec_secret", "a"), "k1:AAAA", "", "k2"]) {
    expect(decryptIfReadable(box, unreadable, "a", logger)).toBeUndefined();
  }
  expect(box.formerKeyIds).toEqual(["k1"]);
});
