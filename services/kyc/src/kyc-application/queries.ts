import { listPage, namedQuery, type Tally } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { KycApplicationColumns } from "./kyc-application.message.ts";

/** What a reader sees, and the link that is still to be decrypted. */
export type KycApplicationRow = KycApplicationColumns & { linkCiphertext: string | null };

const columns = `id, business_id as "businessId", client_id as "clientId", external_id as "externalId", status,
  link_ciphertext as "linkCiphertext", link_expires_at as "linkExpiresAt", metadata, max_attempts as "maxAttempts",
  attempts_used as "attemptsUsed", verdict, reason_codes as "reasonCodes", liveness_outcome as "livenessOutcome",
  face_match_outcome as "faceMatchOutcome", document_type as "documentType", document_expiry as "documentExpiry",
  nationality, aml_hit_count as "amlHitCount", aml_decision as "amlDecision", reviewed_at as "reviewedAt",
  completed_at as "completedAt", synced_at as "syncedAt", created_at as "createdAt"`;

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

export const kycApplicationTally: Tally = { table: "kyc_application", dimensions: ["status", "verdict"] };

export interface KycApplicationFilter {
  readonly status: string | undefined;
  readonly verdict: string | undefined;
  readonly clientId: string | undefined;
  readonly externalId: string | undefined;
  readonly createdFrom: Date | undefined;
  /** Exclusive. */
  readonly createdTo: Date | undefined;
}

/** A page of a business's applications, newest first, and how many there are in all. */
export const readKycApplications = (
  em: SqlEntityManager,
  businessId: string,
  by: KycApplicationFilter,
  page: { limit: number; offset: number },
) =>
  listPage<KycApplicationRow>(em, {
    table: "kyc_application",
    columns,
    businessId,
    filters: [
      { column: "status", is: by.status },
      { column: "verdict", is: by.verdict },
      { column: "client_id", is: by.clientId },
      { column: "external_id", is: by.externalId },
      { sql: "created_at >= ?", value: by.createdFrom },
      { sql: "created_at < ?", value: by.createdTo },
    ],
    limit: page.limit,
    offset: page.offset,
    tally: kycApplicationTally,
  });
