import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { KycApplicationColumns } from "./kyc-application.message.ts";

/** What a reader sees, and the link that is still to be decrypted. */
export type KycApplicationRow = KycApplicationColumns & { linkCiphertext: string };

const columns = `id, business_id as "businessId", client_id as "clientId", external_id as "externalId", status,
  link_ciphertext as "linkCiphertext", link_expires_at as "linkExpiresAt", metadata, max_attempts as "maxAttempts",
  attempts_used as "attemptsUsed", verdict, reason_codes as "reasonCodes", liveness_outcome as "livenessOutcome",
  face_match_outcome as "faceMatchOutcome", document_type as "documentType", document_expiry as "documentExpiry",
  nationality, aml_hit_count as "amlHitCount", aml_decision as "amlDecision", decision_summary as "decisionSummary",
  error_message as "errorMessage", completed_at as "completedAt", synced_at as "syncedAt", created_at as "createdAt"`;

export async function readKycApplication(
  em: SqlEntityManager,
  businessId: string,
  id: string,
): Promise<KycApplicationRow | undefined> {
  const [row] = await namedQuery<KycApplicationRow>(
    em,
    "kyc_application_read",
    `select ${columns} from kyc_application where business_id = $1 and id = $2`,
    [businessId, id],
  );
  return row;
}

export interface KycApplicationFilter {
  readonly status: string | null;
  readonly verdict: string | null;
  readonly clientId: string | null;
  readonly externalId: string | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
}

const filter = `business_id = $1 and ($2::text is null or status = $2) and ($3::text is null or verdict = $3)
  and ($4::uuid is null or client_id = $4) and ($5::text is null or external_id = $5)
  and ($6::timestamptz is null or created_at >= $6) and ($7::timestamptz is null or created_at < $7)`;

/** A page of a business's applications, newest first, and how many there are in all. */
export async function listKycApplications(
  em: SqlEntityManager,
  businessId: string,
  by: KycApplicationFilter,
  limit: number,
  offset: number,
) {
  const values = [businessId, by.status, by.verdict, by.clientId, by.externalId, by.createdFrom, by.createdTo];
  const [rows, totals] = await Promise.all([
    namedQuery<KycApplicationRow>(
      em,
      "kyc_application_list",
      `select ${columns} from kyc_application where ${filter} order by created_at desc, id desc limit $8 offset $9`,
      [...values, limit, offset],
    ),
    namedQuery<{ total: number }>(
      em,
      "kyc_application_count",
      `select count(*)::int as total from kyc_application where ${filter}`,
      values,
    ),
  ]);
  return { rows, total: totals[0]?.total ?? 0 };
}
