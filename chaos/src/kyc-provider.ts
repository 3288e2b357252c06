import { type KycProvider, kycProviders } from "@amana/dev-env/services";

/** Returns the settings with which kyc uses this verification provider for new applications. */
export const kycProviderSettings = (kycProvider: KycProvider): Record<string, string> => ({
  KYC_PROVIDER: kycProvider,
  KYC_PROVIDERS_FORMER: kycProviders.filter((name) => name !== kycProvider).join(),
});
