import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateApiKey } from "@amana/api-keys";
import { readSecrets } from "@amana/dev-env/secrets";
import { servicesWithDatabase } from "@amana/dev-env/services";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..");

/**
 * Generates the values that docker-compose.yml requires. Creates certificates in `dir`
 * that are valid for a day.
 */
export async function createComposeValues(dir: string): Promise<Record<string, string>> {
  const certificates = join(dir, "certificates");
  const run = promisify(execFile);
  await run(join(root, "deploy", "make-certificates.sh"), [certificates, "1"]);
  // The containers run as a user that does not exist on this machine, so all users must be able to
  // read the files.
  await run("chmod", ["-R", "a+rX", certificates]);
  const { gatewayKey, kycKey, auditKey, ...secrets } = await readSecrets(dir);
  return {
    CERTIFICATES: certificates,
    GATEWAY_PRIVATE_KEY: gatewayKey.privateKey,
    GATEWAY_PUBLIC_KEYS: gatewayKey.publicKey,
    KYC_PRIVATE_KEY: kycKey.privateKey,
    KYC_PUBLIC_KEYS: kycKey.publicKey,
    FINGERPRINT_KEYS: secrets.fingerprintSecret,
    CHECKOUT_KEYS: secrets.checkoutSecret,
    EVENT_KEY_PAYMENTS: `payments.v1=k1:${randomBytes(32).toString("base64")}`,
    EVENT_KEY_KYC: `kyc.v1=k1:${randomBytes(32).toString("base64")}`,
    EVENT_KEY_AUDIT: `audit.v1=k1:${randomBytes(32).toString("base64")}`,
    ...createDatabasePasswords(() => randomBytes(24).toString("hex")),
    SECRET_ENCRYPTION_KEYS: `one:${secrets.encryptionKey}`,
    AUDIT_SIGNING_KEY: auditKey.privateKey,
    BOOTSTRAP_ADMIN_KEY: generateApiKey("ak_"),
  };
}

/** Creates the password settings for the superuser and for each service's two database roles. */
export function createDatabasePasswords(passwordOf: (name: string) => string): Record<string, string> {
  const names = servicesWithDatabase.flatMap((service) =>
    ["DATABASE", "OWNER"].map((kind) => `${service.toUpperCase()}_${kind}_PASSWORD`),
  );
  return Object.fromEntries(["POSTGRES_PASSWORD", ...names].map((name) => [name, passwordOf(name)]));
}

/** A service in docker-compose.yml, with the fields that tests check. */
export interface ComposeService {
  readonly image?: string;
  readonly restart?: string;
  readonly environment?: Record<string, string>;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Record<string, unknown>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ulimits?: Record<string, number>;
  readonly mem_limit?: string;
  readonly logging?: { readonly options?: Record<string, string> };
}

export interface Compose {
  readonly services: Record<string, ComposeService>;
  readonly volumes: Record<string, unknown>;
}

export const readCompose = async (): Promise<Compose> =>
  parse(await readFile(join(root, "docker-compose.yml"), "utf8"), { merge: true });

/** Returns a service's environment. Replaces each variable by its value in `values`. */
export function composeEnvironmentOf(
  { services }: Compose,
  service: string,
  values: Record<string, string>,
): Record<string, string> {
  const replaceVariables = (text: string) =>
    text.replace(
      /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (_all, name: string, kind?: string, fallback?: string) => values[name] ?? (kind === "-" ? (fallback ?? "") : ""),
    );
  const settings = Object.entries(services[service]?.environment ?? {});
  return Object.fromEntries(settings.map(([name, value]) => [name, replaceVariables(String(value))]));
}
