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
const good = {
  CALLER_PRIVATE_KEY: `k1:${privateText}`,
  GATEWAY_PUBLIC_KEYS: `k1:${publicText}, k2:${publicText}`,
  CLIENTS_URLS: "http://clients:4000",
};

test("the readers return keys with their ids", () => {
  const { callerKey, keys, tls } = read(good);
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
])("%o is rejected with a message that contains no secret", (bad, expected) => {
  const message = (() => {
    try {
      read({ ...good, ...bad });
      return "no error";
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(message).toMatch(expected);
  expect(message).not.toContain(privateText);
});

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

test.each(published)("rejects the published example key pair %s", (privateHalf, publicHalf) => {
  const problem = (setting: string) => new RegExp(`${setting} is an example key whose private half is published`);
  expect(() => read({ ...good, CALLER_PRIVATE_KEY: `k1:${privateHalf}` })).toThrow(problem("CALLER_PRIVATE_KEY"));
  expect(() => read({ ...good, GATEWAY_PUBLIC_KEYS: `k1:${publicText},k2:${publicHalf}` })).toThrow(
    problem("GATEWAY_PUBLIC_KEYS: entry 2"),
  );
});

test("rejects the same key in two settings in production, and accepts it elsewhere", () => {
  const both = (source: Record<string, string>) =>
    readEnv((env) => {
      const keys = (name: string) => readTrustedKeys(env, name, "anyone").map(({ publicKey }) => publicKey);
      rejectSharedKeys(env, { A: keys("A"), B: keys("B"), C: [readCallerKey(env, "C").privateKey] });
      return {};
    }, source);
  const pairs = [1, 2].map(() =>
    generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64"),
  );
  const [one, two] = pairs;
  const source = { NODE_ENV: "production", A: `k1:${one}`, B: `k1:${two}`, C: `k1:${privateText}` };
  expect(() => both(source)).not.toThrow();
  expect(() => both({ ...source, B: `k1:${two},k2:${one}` })).toThrow("B and A hold the same key");
  expect(() => both({ ...source, A: `k1:${one},k2:${publicText}` })).toThrow("C and A hold the same key");
  expect(() => both({ ...source, B: `k1:${one}`, NODE_ENV: "test" })).not.toThrow();
});

test("production accepts https URLs with certificate files, and http only with RPC_WITHOUT_TLS", () => {
  expect(read({ ...good, ...files, NODE_ENV: "production", CLIENTS_URLS: "https://clients:4000" }).tls).toEqual({
    certFile: "/c",
    keyFile: "/k",
    caFile: "/a",
  });
  expect(read({ ...good, NODE_ENV: "production", RPC_WITHOUT_TLS: "true" }).tls).toBeUndefined();
});
