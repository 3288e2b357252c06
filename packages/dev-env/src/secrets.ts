import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateApiKey } from "@amana/api-keys";
import { DevEnvError } from "./dev-env-error.ts";

/** What a deployment would take from its secret store, made once for this data folder. */
export interface Secrets {
  readonly adminKey: string;
  /** What the gateway and kyc vouch for callers with. */
  readonly gatewayKey: KeyPair;
  readonly kycKey: KeyPair;
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

const file = "secrets.json";

export async function readSecrets(dir: string): Promise<Secrets> {
  await mkdir(dir, { recursive: true });
  let known: Partial<Secrets> = {};
  try {
    known = JSON.parse(await readFile(join(dir, file), "utf8")) as Secrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new DevEnvError(`${join(dir, file)} cannot be read.`, "Start with --fresh to throw the data away and begin anew.", {
        cause: error,
      });
    }
  }
  const secrets: Secrets = {
    adminKey: generateApiKey("ak_"),
    gatewayKey: aKeyPair("gateway-dev"),
    kycKey: aKeyPair("kyc-dev"),
    fingerprintSecret: randomBytes(32).toString("base64"),
    eventSecret: randomBytes(32).toString("base64"),
    encryptionKey: randomBytes(32).toString("base64"),
    databasePassword: randomBytes(24).toString("hex"),
    // A data folder of an older version lacks what is new.
    ...known,
  };
  await keepSecrets(dir, secrets);
  return secrets;
}

export async function keepSecrets(dir: string, secrets: Secrets): Promise<void> {
  await writeFile(join(dir, `${file}.new`), `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  await rename(join(dir, `${file}.new`), join(dir, file));
}

function aKeyPair(id: string): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: `${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`,
    publicKey: `${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`,
  };
}
