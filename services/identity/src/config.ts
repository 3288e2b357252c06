import { keyLeaseMsMax, readApiKeyKind } from "@amana/api-keys";
import { readCallerKey } from "@amana/rpc";
import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service";

export type Config = ReturnType<typeof readConfig>;

/** The settings of the identity service; `.env.example` explains each. */
export const readConfig = settings((env) => ({
  ...readServiceConfig(env, { consumes: ["audit.v1"] }),
  /** Whether businesses get sk_live_ or sk_test_ keys here. */
  keyMode: env.choice("KEY_MODE", ["live", "test"]),
  keyLeaseMs: env.integer("KEY_LEASE_MS", { fallback: 500, max: keyLeaseMsMax }),
  /** Signs the heads of the audit trail's chain. */
  auditSigningKey: readCallerKey(env, "AUDIT_SIGNING_KEY"),
  bootstrapAdminKey: adminKey(env, "BOOTSTRAP_ADMIN_KEY"),
}));

function adminKey(env: EnvReader, name: string): string | undefined {
  const key = env.optional(name);
  // The value is a secret even when it is mistyped, so the message does not repeat it.
  if (key !== undefined && readApiKeyKind(key) !== "ak_") {
    env.problem(`${name} must be a whole operator's key (ak_…); its form or its checksum is wrong`);
  }
  return key;
}
