import { isDatabaseUnavailable, type Orm } from "@amana/database";
import { allTenants, forTenant, type Logger, StartRefused } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Providers } from "../verification-provider/providers.ts";

export interface OpenApplications {
  readonly provider: string;
  readonly open: number;
  readonly total: number;
}

/** Counts the applications of each provider, in total and open. */
export const countApplications = (em: SqlEntityManager): Promise<OpenApplications[]> =>
  em.execute<OpenApplications[]>(
    `select provider, count(*) filter (where next_check_at is not null)::int as open, count(*)::int as total
     from kyc_application group by provider order by provider`,
  );

/**
 * Throws StartRefused if an application is open at a provider without settings, because the service
 * could neither read nor cancel the application. If the database is unreachable, the service starts
 * without this check and without the check of migrations.
 */
export async function requireProvidersOfOpenApplications(orm: Orm, providers: Providers, logger: Logger): Promise<void> {
  const missing = (await readOpenProviders(orm, logger)).filter((name) => !providers.find(name));
  if (missing.length === 0) return;
  throw new StartRefused(
    `Applications are open at ${missing.join(", ")}, which has no settings. Add it to KYC_PROVIDERS_FORMER with its settings, until amana kyc-provider list shows no open application.`,
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
    logger.warn("providers of open applications not checked, database unreachable");
    return [];
  }
}
