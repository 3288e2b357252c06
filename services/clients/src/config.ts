import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { currencyExponents } from "@amana/public-api";
import { readTrustedKeys, rejectSharedKeys } from "@amana/rpc";
import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service-host";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the clients service. `.env.example` explains each. */
export const readConfig = settings((env) => {
  const base = readServiceConfig(env, { emits: ["audit.v1"], consumes: ["kyc.v1"] });
  // Kyc may call only this RPC.
  const kycKeys = readTrustedKeys(env, "KYC_PUBLIC_KEYS", [ClientService.method.getClientStanding]);
  const publicKeysOf = (keys: typeof kycKeys) => keys.map(({ publicKey }) => publicKey);
  // With the gateway's key, kyc could sign tokens for any caller.
  rejectSharedKeys(env, { GATEWAY_PUBLIC_KEYS: publicKeysOf(base.callerKeys), KYC_PUBLIC_KEYS: publicKeysOf(kycKeys) });
  return {
    ...base,
    callerKeys: [...base.callerKeys, ...kycKeys],
    autoApprove: env.boolean("ONBOARDING_AUTO_APPROVE", false),
    institution: {
      bankCode: digits(env, "ACCOUNT_BANK_CODE", 3, "999"),
      branchCode: digits(env, "ACCOUNT_BRANCH_CODE", 5, "00001"),
    },
    currencies: currencies(env),
  };
});

function digits(env: EnvReader, name: string, length: number, fallback: string): string {
  const value = env.string(name, fallback);
  if (!/^\d+$/.test(value) || value.length !== length) env.problem(`${name} must be ${length} digits, not "${value}"`);
  return value;
}

function currencies(env: EnvReader): readonly string[] {
  const configured = env.list("ACCOUNT_CURRENCIES");
  const unknown = configured.filter((currency) => !Object.hasOwn(currencyExponents, currency));
  if (unknown.length > 0)
    env.problem(
      `ACCOUNT_CURRENCIES contains unknown currencies: ${unknown.join(", ")}. Supported: ${Object.keys(currencyExponents).join(", ")}`,
    );
  return configured.length > 0 ? configured : ["DZD", "EUR", "USD"];
}
