import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { EnvReader } from "@amana/runtime";
import type { CallerKey, TrustedKey } from "./caller-token.ts";
import type { TlsFiles } from "./tls.ts";

/**
 * Reads a signing key, "id:base64 of a PKCS #8 document". `name` is the setting, by default the key
 * that signs caller tokens.
 */
export function readCallerKey(env: EnvReader, name = "CALLER_PRIVATE_KEY"): CallerKey {
  const { id, key } = readKey(env, name, env.string(name), (der) => createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
  return { id, privateKey: key };
}

/**
 * Reads a setting such as GATEWAY_PUBLIC_KEYS: a comma-separated list of "id:base64 of a
 * SubjectPublicKeyInfo". It has at least one entry, and several while a key is replaced. Problems
 * contain the number of the entry.
 */
export function readTrustedKeys(env: EnvReader, name: string, signsFor: TrustedKey["signsFor"]): TrustedKey[] {
  const keys = env.words(name).map((entry, index) => {
    const { id, key } = readKey(env, `${name}: entry ${index + 1}`, entry, (der) =>
      createPublicKey({ key: der, format: "der", type: "spki" }),
    );
    return { id, publicKey: key, signsFor };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) env.problem(`${name} has the same key id twice`);
  return keys;
}

/**
 * Records a problem in production for each key that is in two of these settings. `settings` maps
 * the name of each setting to its public or private keys. The holder of a shared key would have
 * the rights of both settings.
 */
export function rejectSharedKeys(env: EnvReader, settings: Readonly<Record<string, readonly KeyObject[]>>): void {
  if (!env.isProduction) return;
  const holders = new Map<string, string>();
  for (const [name, keys] of Object.entries(settings)) {
    for (const key of keys.filter((key) => key !== unusable)) {
      const publicHalf = publicHalfOf(key);
      const holder = holders.get(publicHalf) ?? name;
      holders.set(publicHalf, holder);
      if (holder !== name) env.problem(`${name} and ${holder} contain the same key; create a separate key pair for each`);
    }
  }
}

/**
 * Reads RPC_TLS_CERT_FILE, RPC_TLS_KEY_FILE and RPC_TLS_CA_FILE: all three, or none for calls
 * without TLS. In production, calls without TLS need RPC_WITHOUT_TLS=true, because calls contain
 * API keys and secrets.
 */
export function readTlsFiles(env: EnvReader): TlsFiles | undefined {
  const [certFile, keyFile, caFile] = ["RPC_TLS_CERT_FILE", "RPC_TLS_KEY_FILE", "RPC_TLS_CA_FILE"].map((name) =>
    env.optional(name),
  );
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile };
  if (certFile || keyFile || caFile) {
    env.problem("RPC_TLS_CERT_FILE, RPC_TLS_KEY_FILE and RPC_TLS_CA_FILE are incomplete: set all three, or none");
  }
  if (env.isProduction && !env.boolean("RPC_WITHOUT_TLS", false)) {
    env.problem(
      "RPC_TLS_CERT_FILE, RPC_TLS_KEY_FILE and RPC_TLS_CA_FILE must be set in production; set RPC_WITHOUT_TLS=true only where a service mesh encrypts and authenticates calls",
    );
  }
  return undefined;
}

/** Reads the URLs of a service's replicas: https with TLS, http without. */
export function readServiceUrls(env: EnvReader, name: string, tls: TlsFiles | undefined): string[] {
  const urls = env.urls(name);
  const scheme = tls ? "https://" : "http://";
  for (const url of urls) {
    if (url.startsWith(scheme)) continue;
    env.problem(`${name} must list ${scheme} URLs ${tls ? "with" : "without"} RPC_TLS_*_FILE, not "${url}"`);
  }
  return urls;
}

function readKey(
  env: EnvReader,
  setting: string,
  text: string,
  read: (der: Buffer) => KeyObject,
): { id: string; key: KeyObject } {
  const [, id, base64] = /^([\w-]+):([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  if (id === undefined || base64 === undefined || id.length > 32) {
    if (text !== "") env.problem(`${setting} must be written id:base64, the id with 1 to 32 letters, digits, "-" or "_"`);
    return { id: "", key: unusable };
  }
  try {
    const key = read(Buffer.from(base64, "base64"));
    if (key.asymmetricKeyType === "ed25519" && !publishedKeys.has(publicHalfOf(key))) return { id, key };
    if (key.asymmetricKeyType === "ed25519") {
      env.problem(`${setting} is an example key whose private half is published; ${makePair}`);
      return { id, key: unusable };
    }
  } catch {}
  // The value may be a secret, so the message does not repeat it.
  env.problem(`${setting} is not an Ed25519 key of this format; ${makePair}`);
  return { id, key: unusable };
}

const makePair = "create a key pair with: node packages/rpc/src/make-caller-key.ts";

const publicHalfOf = (key: KeyObject): string =>
  (key.type === "private" ? createPublicKey(key) : key).export({ format: "der", type: "spki" }).toString("base64");

/** Public halves of the example keys in RFC 8410 (section 10) and RFC 8032 (section 7.1). */
const publishedKeys: ReadonlySet<string> = new Set(
  ["Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]
    .concat(["PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=", "/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU="])
    .map((key) => `MCowBQYDK2VwAyEA${key}`),
);

/** Placeholder of an invalid key. It is never used, because the recorded problem ends the start. */
const unusable = undefined as unknown as KeyObject;
