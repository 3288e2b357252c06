import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { currencyExponents } from "@amana/public-api";
import { readTrustedKeys, rejectSharedKeys } from "@amana/rpc";
import { type EnvReader, settings } from "@amana/runtime";
import { readServiceConfig } from "@amana/service-host";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the clients service, documented in `.env.example`. */
export const readConfig = settings((env) => {
  const base = readServiceConfig(env, { emits: ["audit.v1"], consumes: ["kyc.v1"] });
  // A caller token that kyc signed is accepted only for this RPC.
  const kycKeys = readTrustedKeys(env, "KYC_PUBLIC_KEYS", [ClientService.method.getClientStanding]);
  const publicKeysOf = (keys: typeof kycKeys) => keys.map(({ publicKey }) => publicKey);
  // Rejects a key that both settings contain. If kyc had the gateway's key, it could sign caller
  // tokens for any caller.
  rejectSharedKeys(env, { GATEWAY_PUBLIC_KEYS: publicKeysOf(base.callerKeys), KYC_PUBLIC_KEYS: publicKeysOf(kycKeys) });
  return {
    ...base,
    callerKeys: [...base.callerKeys, ...kycKeys],
    autoApprove: env.boolean("ONBOARDING_AUTO_APPROVE", false),
    institution: {
      bankCode: readDigits(env, "ACCOUNT_BANK_CODE", 3, "999"),
      branchCode: readDigits(env, "ACCOUNT_BRANCH_CODE", 5, "00001"),
    },
    currencies: readCurrencies(env),
  };
});

function readDigits(env: EnvReader, name: string, length: number, fallback: string): string {
  const value = env.string(name, fallback);
  if (!/^\d+$/.test(value) || value.length !== length) env.problem(`${name} must be ${length} digits, not "${value}"`);
  return value;
}

function readCurrencies(env: EnvReader): readonly string[] {
  const configuredCurrencies = env.list("ACCOUNT_CURRENCIES");
  const unknownCurrencies = configuredCurrencies.filter((currency) => !Object.hasOwn(currencyExponents, currency));
  if (unknownCurrencies.length > 0)
    env.problem(
      `ACCOUNT_CURRENCIES contains unknown currencies: ${unknownCurrencies.join(", ")}. Supported: ${Object.keys(currencyExponents).join(", ")}`,
    );
  return configuredCurrencies.length > 0 ? configuredCurrencies : ["DZD", "EUR", "USD"];
}
