import { keyLeaseMsMax, readApiKeyKind } from "@amana/api-keys";
import { readCallerKey, rejectSharedKeys } from "@amana/rpc";
import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service-host";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the identity service. `.env.example` explains each setting. */
export const readConfig = settings((env) => {
  const base = readServiceConfig(env, { consumes: ["audit.v1"] });
  /** Key that signs the heads of the audit chain. */
  const auditSigningKey = readCallerKey(env, "AUDIT_SIGNING_KEY");
  rejectSharedKeys(env, {
    GATEWAY_PUBLIC_KEYS: base.callerKeys.map(({ publicKey }) => publicKey),
    AUDIT_SIGNING_KEY: [auditSigningKey.privateKey],
  });
  return {
    ...base,
    auditSigningKey,
    /** Mode of business keys. It sets their prefix: sk_live_ or sk_test_. */
    keyMode: env.choice("KEY_MODE", ["live", "test"]),
    keyLeaseMs: env.integer("KEY_LEASE_MS", { fallback: 500, max: keyLeaseMsMax }),
    bootstrapAdminKey: readAdminKey(env, "BOOTSTRAP_ADMIN_KEY"),
  };
});

function readAdminKey(env: EnvReader, name: string): string | undefined {
  const key = env.optional(name);
  // The message omits the key, because even a mistyped key is a secret.
  if (key !== undefined && readApiKeyKind(key) !== "ak_") {
    env.problem(`${name} must be a complete operator key (ak_…); its format or checksum is invalid`);
  }
  return key;
}
