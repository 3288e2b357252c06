import { databaseTime, type Orm, transaction } from "@amana/database";
import { type Action, recordAction } from "@amana/messaging";
import { createLogger, type EnvSource, readEnv } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import { KycApplication } from "./kyc-application/kyc-application.ts";
import { checkProviders } from "./verification-provider/check.ts";
import type { CheckResult } from "./verification-provider/check-result.ts";
import { createProviders } from "./verification-provider/providers.ts";
import { type ProvidersConfig, readProvidersConfig } from "./verification-provider/providers-config.ts";
import { causeOf } from "./verification-provider/verification-provider.ts";

export type { CheckResult } from "./verification-provider/check-result.ts";

const timeoutMs = 30_000;

/** Reads the provider settings of the kyc service from the environment. Throws SettingsError. */
const readConfig = (source?: EnvSource): ProvidersConfig => readEnv((env) => readProvidersConfig(env), source);

/**
 * Checks the accounts at all configured providers without creating an application. Throws
 * SettingsError.
 */
export const checkConfiguredProviders = (source?: EnvSource): Promise<CheckResult[]> => checkProviders(readConfig(source));

interface ProviderCount {
  readonly provider: string;
  readonly open: number;
  readonly total: number;
  /** Number of deletions that a person must complete in the vendor's dashboard. */
  readonly erasuresRequested: number;
}

/**
 * Returns the numbers of open applications, of all applications and of unconfirmed deletions for
 * each provider.
 */
export const countByProvider = (orm: Orm): Promise<ProviderCount[]> =>
  orm.em.fork().execute<ProviderCount[]>(
    `select provider, count(*) filter (where next_check_at is not null)::int as open, count(*)::int as total,
       count(*) filter (where erasure = 'REQUESTED')::int as "erasuresRequested"
     from kyc_application group by provider order by provider`,
  );

export type EraseResult =
  | { readonly kind: "erased" | "requested"; readonly provider: string }
  | { readonly kind: "not_found" | "not_ended" | "no_operation" | "failed"; readonly text: string };

/**
 * Deletes an applicant's data at the provider, and records the deletion in the audit trail. The
 * application must have ended. The call can be repeated. Throws SettingsError.
 */
export async function eraseApplicant(
  orm: Orm,
  id: string,
  action: Pick<Action, "by" | "reason">,
  source?: EnvSource,
): Promise<EraseResult> {
  const application = await orm.em.fork().findOne(KycApplication, { id });
  if (!application) return { kind: "not_found", text: `There is no application ${id}.` };
  if (application.isOpen()) {
    const text = `The application is ${application.status} and has not ended. Cancel it, or decide its review, and run the command again.`;
    return { kind: "not_ended", text };
  }
  await using providers = createProviders(readConfig(source), createLogger("amana", "silent"));
  const provider = providers.find(application.provider);
  if (!provider) {
    const text = `The settings of the provider ${application.provider} are missing. Add the provider to KYC_PROVIDERS_FORMER, and add its settings.`;
    return { kind: "failed", text };
  }
  const outcome = await provider.erase(application.toKnownApplication(), timeoutMs);
  if (outcome.kind === "refused" && outcome.status === 501) {
    const text =
      "The provider port, which implements Amana's own protocol, has no operation that deletes data. Request the deletion from the provider's support.";
    return { kind: "no_operation", text };
  }
  if (outcome.kind !== "accepted") {
    return { kind: "failed", text: `The provider did not confirm the deletion (${causeOf(outcome)}). Run the command again.` };
  }
  const { value } = outcome;
  await transaction(orm, async (em) => {
    const now = await databaseTime(em);
    const locked = await em.findOneOrFail(KycApplication, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    locked.recordErasure(value === "erased" ? "DONE" : "REQUESTED", now);
    recordAction("kyc")(em, now, {
      ...action,
      action: "kyc_application.erasure_requested",
      entity: { type: "kyc_application", id },
      businessId: locked.businessId,
      after: { provider: locked.provider, result: value },
    });
  });
  return { kind: value, provider: application.provider };
}
