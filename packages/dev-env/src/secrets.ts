import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { generateApiKey } from "@amana/api-keys";
import { readJson, writeJson } from "./json-file.ts";

/** What a deployment would take from its secret store, made once for this data folder. */
export interface Secrets {
  readonly adminKey: string;
  /** What the gateway and kyc vouch for callers with. */
  readonly gatewayKey: KeyPair;
  readonly kycKey: KeyPair;
  /** Vouches for the audit trail. */
  readonly auditKey: KeyPair;
  /** Base64, 32 bytes: keeps fingerprints of requests from telling what they are of. */
  readonly fingerprintSecret: string;
  /** Each topic's key is made from it: what events are signed with. */
  readonly eventSecret: string;
  /** Base64, 32 bytes: encrypts webhook secrets. */
  readonly encryptionKey: string;
  /** Of the services' database roles. */
  readonly databasePassword: string;
  /** The seeded business; its key is shown by the API only once, so it is kept here. */
  readonly business?: { readonly id: string; readonly api_key: string };
}

/** Ed25519, each half as the settings take it: "id:base64". */
export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

const fileIn = (dir: string) => join(dir, "secrets.json");

export async function readSecrets(dir: string): Promise<Secrets> {
  await mkdir(dir, { recursive: true });
  const secrets: Secrets = {
    adminKey: generateApiKey("ak_"),
    gatewayKey: aKeyPair("gateway-dev"),
    kycKey: aKeyPair("kyc-dev"),
    auditKey: aKeyPair("audit-dev"),
    fingerprintSecret: randomBytes(32).toString("base64"),
    eventSecret: randomBytes(32).toString("base64"),
    encryptionKey: randomBytes(32).toString("base64"),
    databasePassword: randomBytes(24).toString("hex"),
    // A data folder of an older version lacks what is new.
    ...(await readJson<Partial<Secrets>>(fileIn(dir))),
  };
  await keepSecrets(dir, secrets);
  return secrets;
}

export const keepSecrets = (dir: string, secrets: Secrets): Promise<void> => writeJson(fileIn(dir), secrets);

function aKeyPair(id: string): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: `${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`,
    publicKey: `${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`,
  };
}
