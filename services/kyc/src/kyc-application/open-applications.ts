import { isDatabaseUnavailable, type Orm } from "@amana/database";
import { allTenants, forTenant, type Logger, StartupError } from "@amana/runtime";
import type { Providers } from "../verification-provider/providers.ts";

/**
 * Throws StartupError if an application is open at a provider without settings, because kyc could
 * neither read nor cancel this application. If the database is unreachable, kyc starts without this
 * check and without the check of migrations.
 */
export async function requireProvidersOfOpenApplications(orm: Orm, providers: Providers, logger: Logger): Promise<void> {
  const missing = (await readOpenProviders(orm, logger)).filter((name) => !providers.find(name));
  if (missing.length === 0) return;
  throw new StartupError(
    `Applications are open at ${missing.join(", ")}, but the settings of this provider are missing. Add the provider to KYC_PROVIDERS_FORMER, add its settings, and keep them until "amana kyc-provider list" shows no open application.`,
  );
}

async function readOpenProviders(orm: Orm, logger: Logger): Promise<string[]> {
  try {
    const rows = await forTenant(allTenants, () =>
      orm.em
        .fork()
        .execute<{ provider: string }[]>("select distinct provider from kyc_application where next_check_at is not null"),
    );
    return rows.map(({ provider }) => provider);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    logger.warn("database unreachable, check of provider settings for open applications skipped");
    return [];
  }
}
