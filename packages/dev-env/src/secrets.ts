import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateApiKey } from "@amana/api-keys";
import { DevEnvError } from "./dev-env-error.ts";

/** What a deployment would take from its secret store, made once for this data folder. */
export interface Secrets {
  readonly adminKey: string;
  /** Base64, 32 bytes: signs who calls, between the services. */
  readonly rpcSecret: string;
  /** Base64, 32 bytes: encrypts webhook secrets. */
  readonly encryptionKey: string;
  /** Of the services' database roles. */
  readonly databasePassword: string;
  /** The seeded business; its key is shown by the API only once, so it is kept here. */
  readonly business?: { readonly id: string; readonly api_key: string };
}

const file = "secrets.json";

export async function readSecrets(dir: string): Promise<Secrets> {
  await mkdir(dir, { recursive: true });
  try {
    return JSON.parse(await readFile(join(dir, file), "utf8")) as Secrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new DevEnvError(`${join(dir, file)} cannot be read.`, "Start with --fresh to throw the data away and begin anew.", {
        cause: error,
      });
    }
  }
  const secrets: Secrets = {
    adminKey: generateApiKey("ak_"),
    rpcSecret: randomBytes(32).toString("base64"),
    encryptionKey: randomBytes(32).toString("base64"),
    databasePassword: randomBytes(24).toString("hex"),
  };
  await keepSecrets(dir, secrets);
  return secrets;
}

export async function keepSecrets(dir: string, secrets: Secrets): Promise<void> {
  await writeFile(join(dir, `${file}.new`), `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  await rename(join(dir, `${file}.new`), join(dir, file));
}
