import { generateKeyPairSync } from "node:crypto";
import { readEnv } from "@amana/runtime";
import { expect, test } from "vitest";
import { readCallerKey, readServiceUrls, readTlsFiles, readTrustedKeys, rejectSharedKeys } from "./index.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const privateText = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
const publicText = publicKey.export({ format: "der", type: "spki" }).toString("base64");
const files = { RPC_TLS_CERT_FILE: "/c", RPC_TLS_KEY_FILE: "/k", RPC_TLS_CA_FILE: "/a" };

const read = (source: Record<string, string>) =>
  readEnv(
    (env) => ({
      callerKey: readCallerKey(env),
      keys: readTrustedKeys(env, "GATEWAY_PUBLIC_KEYS", "anyone"),
      urls: readServiceUrls(env, "CLIENTS_URLS", readTlsFiles(env)),
      tls: readTlsFiles(env),
    }),
    source,
  );
const validSettings = {
  CALLER_PRIVATE_KEY: `k1:${privateText}`,
  GATEWAY_PUBLIC_KEYS: `k1:${publicText}, k2:${publicText}`,
  CLIENTS_URLS: "http://clients:4000",
};

test("readCallerKey and readTrustedKeys return the keys of their settings with the keys' ids", () => {
  const { callerKey, keys, tls } = read(validSettings);
  expect([callerKey.id, ...keys.map(({ id }) => id), tls]).toEqual(["k1", "k1", "k2", undefined]);
});

test.each<[Record<string, string>, RegExp]>([
  [{ CALLER_PRIVATE_KEY: "" }, /CALLER_PRIVATE_KEY is not set/],
  [{ CALLER_PRIVATE_KEY: privateText }, /must be written id:base64, the id/],
  [{ CALLER_PRIVATE_KEY: `k1:${publicText}` }, /CALLER_PRIVATE_KEY is not an Ed25519 key of this format/],
  [{ GATEWAY_PUBLIC_KEYS: "" }, /GATEWAY_PUBLIC_KEYS is not set/],
  [{ GATEWAY_PUBLIC_KEYS: `k1:${publicText},k1:${publicText}` }, /the same key id twice/],
  [{ GATEWAY_PUBLIC_KEYS: `k1:${publicText},k2:AAAA` }, /entry 2 is not an Ed25519 key of this format/],
  [{ RPC_TLS_CERT_FILE: "/c" }, /set all three, or none/],
  [files, /CLIENTS_URLS must list https:.*with RPC_TLS/],
  [{ CLIENTS_URLS: "https://clients:4000" }, /CLIENTS_URLS must list http:.*without RPC_TLS/],
  [{ NODE_ENV: "production" }, /RPC_TLS_CERT_FILE.*RPC_WITHOUT_TLS=true/],
])(
  "the functions that read RPC settings reject the settings %j with a message that contains no secret",
  (invalidSettings, expected) => {
    const message = (() => {
      try {
        read({ ...validSettings, ...invalidSettings });
        return "the settings were accepted";
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(message).toMatch(expected);
    expect(message).not.toContain(privateText);
  },
);

/** Example key pairs of RFC 8410, section 10.3, and RFC 8032, section 7.1, test 1. */
const published = [
  [
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
    "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
  ],
  [
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  ],
];

test.each(published)("readCallerKey and readTrustedKeys reject the published example key pair %s", (privateHalf, publicHalf) => {
  const problem = (setting: string) => new RegExp(`${setting} is an example key whose private half is published`);
  expect(() => read({ ...validSettings, CALLER_PRIVATE_KEY: `k1:${privateHalf}` })).toThrow(problem("CALLER_PRIVATE_KEY"));
  expect(() => read({ ...validSettings, GATEWAY_PUBLIC_KEYS: `k1:${publicText},k2:${publicHalf}` })).toThrow(
    problem("GATEWAY_PUBLIC_KEYS: entry 2"),
  );
});

test("rejectSharedKeys reports a key that two settings contain, but only in production", () => {
  const readShared = (source: Record<string, string>) =>
    readEnv((env) => {
      const keys = (name: string) => readTrustedKeys(env, name, "anyone").map(({ publicKey }) => publicKey);
      rejectSharedKeys(env, { A: keys("A"), B: keys("B"), C: [readCallerKey(env, "C").privateKey] });
      return {};
    }, source);
  const pairs = [1, 2].map(() =>
    generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64"),
  );
  const [firstKey, secondKey] = pairs;
  const source = { NODE_ENV: "production", A: `k1:${firstKey}`, B: `k1:${secondKey}`, C: `k1:${privateText}` };
  expect(() => readShared(source)).not.toThrow();
  expect(() => readShared({ ...source, B: `k1:${secondKey},k2:${firstKey}` })).toThrow("B and A contain the same key");
  expect(() => readShared({ ...source, A: `k1:${firstKey},k2:${publicText}` })).toThrow("C and A contain the same key");
  expect(() => readShared({ ...source, B: `k1:${firstKey}`, NODE_ENV: "test" })).not.toThrow();
});

test("readServiceUrls and readTlsFiles accept http in production only with RPC_WITHOUT_TLS=true", () => {
  expect(read({ ...validSettings, ...files, NODE_ENV: "production", CLIENTS_URLS: "https://clients:4000" }).tls).toEqual({
    certFile: "/c",
    keyFile: "/k",
    caFile: "/a",
  });
  expect(read({ ...validSettings, NODE_ENV: "production", RPC_WITHOUT_TLS: "true" }).tls).toBeUndefined();
});
