import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { generateApiKey } from "@amana/api-keys";
import { readJson, writeJson } from "./json-file.ts";

/**
 * Generated secrets, stored in the data folder. A deployment reads its secrets from a secret store
 * instead.
 */
export interface Secrets {
  readonly adminKey: string;
  /** Signs the caller tokens of the gateway. */
  readonly gatewayKey: KeyPair;
  /** Signs the caller tokens of kyc. */
  readonly kycKey: KeyPair;
  /** Signs the heads of the audit trail. */
  readonly auditKey: KeyPair;
  /** HMAC key of request fingerprints: Base64, 32 bytes. */
  readonly fingerprintSecret: string;
  /** Signs cookies and challenges of the pages of payment links: Base64, 32 bytes. */
  readonly checkoutSecret: string;
  /** Secret from which the MAC key of each topic is derived. */
  readonly eventSecret: string;
  /** Encrypts stored secrets: Base64, 32 bytes. */
  readonly encryptionKey: string;
  /** Password of the services' database roles. */
  readonly databasePassword: string;
  /** The seeded business. The file stores its API key, because the API returns a key only once. */
  readonly business?: { readonly id: string; readonly api_key: string };
}

/** An Ed25519 key pair. Each key has the format of the settings: "id:base64". */
interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

const fileIn = (dir: string) => join(dir, "secrets.json");

/** Reads the stored secrets, generates each missing secret, and stores all secrets. */
export async function readSecrets(dir: string): Promise<Secrets> {
  await mkdir(dir, { recursive: true });
  const secrets: Secrets = {
    adminKey: generateApiKey("ak_"),
    gatewayKey: createKeyPair("gateway-dev"),
    kycKey: createKeyPair("kyc-dev"),
    auditKey: createKeyPair("audit-dev"),
    fingerprintSecret: randomBytes(32).toString("base64"),
    checkoutSecret: randomBytes(32).toString("base64"),
    eventSecret: randomBytes(32).toString("base64"),
    encryptionKey: randomBytes(32).toString("base64"),
    databasePassword: randomBytes(24).toString("hex"),
    // A data folder of an older version lacks new secrets.
    ...(await readJson<Partial<Secrets>>(fileIn(dir))),
  };
  await writeSecrets(dir, secrets);
  return secrets;
}

export const writeSecrets = (dir: string, secrets: Secrets): Promise<void> => writeJson(fileIn(dir), secrets);

function createKeyPair(id: string): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: `${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`,
    publicKey: `${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`,
  };
}
