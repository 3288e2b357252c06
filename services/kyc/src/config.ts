import { readCallerKey, readServiceUrls, readTlsFiles, rejectSharedKeys } from "@amana/rpc";
import { settings } from "@amana/runtime";
import { readEncryptionKeys } from "@amana/secret-box";
import { readServiceConfig } from "@amana/service-host";
import { readProvidersConfig } from "./verification-provider/providers-config.ts";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the kyc service, documented in `.env.example`. */
export const readConfig = settings((env) => {
  const base = readServiceConfig(env, { emits: ["kyc.v1", "audit.v1"] });
  const callerKey = readCallerKey(env);
  // Rejects a key that both settings contain. If kyc had the gateway's key, it could sign caller
  // tokens for any caller.
  rejectSharedKeys(env, {
    GATEWAY_PUBLIC_KEYS: base.callerKeys.map(({ publicKey }) => publicKey),
    CALLER_PRIVATE_KEY: [callerKey.privateKey],
  });
  return {
    ...base,
    callerKey,
    clientsUrls: readServiceUrls(env, "CLIENTS_URLS", readTlsFiles(env)),
    secretEncryptionKeys: readEncryptionKeys(env, "SECRET_ENCRYPTION_KEYS"),
    providers: readProvidersConfig(env),
    checkPausesSeconds: env.seconds("KYC_CHECK_SECONDS", "300,600,1200,2400,3600"),
    catchUpSeconds: env.integer("KYC_CATCH_UP_SECONDS", { fallback: 60, min: 1 }),
  };
});
