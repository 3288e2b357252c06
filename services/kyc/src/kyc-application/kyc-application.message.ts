import {
  type KycApplication as KycApplicationMessage,
  KycApplicationSchema,
  KycStatus,
  KycVerdict,
} from "@amana/contracts/kyc/v1/kyc_application_pb";
import { create } from "@bufbuild/protobuf";
import type { KycApplication } from "./kyc-application.ts";
import { decisionSummary, errorMessage, reasonMessages } from "./wording.ts";

type Shown =
  | "id"
  | "businessId"
  | "clientId"
  | "externalId"
  | "status"
  | "metadata"
  | "maxAttempts"
  | "attemptsUsed"
  | "verdict"
  | "reasonCodes"
  | "livenessOutcome"
  | "faceMatchOutcome"
  | "documentType"
  | "documentExpiry"
  | "nationality"
  | "amlHitCount"
  | "amlDecision"
  | "reviewedAt";
type Times = "linkExpiresAt" | "completedAt" | "syncedAt" | "createdAt";

/** An application's columns, from the entity or straight from SQL, where times may come as text. */
export type KycApplicationColumns = Pick<KycApplication, Shown> & { [K in Times]?: Date | string | null };

/** `linkUrl` is left out of everything that is stored or sent on. */
export function toKycApplicationMessage(application: KycApplicationColumns, linkUrl?: string): KycApplicationMessage {
  const attemptsRemaining = Math.max(0, application.maxAttempts - application.attemptsUsed);
  return create(KycApplicationSchema, {
    id: application.id,
    businessId: application.businessId,
    createdAtMs: milliseconds(application.createdAt) ?? 0n,
    linkUrl,
    linkExpiresAtMs: milliseconds(application.linkExpiresAt) ?? 0n,
    status: KycStatus[application.status],
    syncedAtMs: milliseconds(application.syncedAt) ?? 0n,
    metadata: application.metadata,
    amlHitCount: application.amlHitCount,
    reasonCodes: application.reasonCodes.map((code) => ({ code, message: reasonMessages[code] })),
    attemptsUsed: application.attemptsUsed,
    attemptsRemaining,
    clientId: application.clientId ?? undefined,
    externalId: application.externalId ?? undefined,
    verdict: application.verdict ? KycVerdict[application.verdict] : undefined,
    completedAtMs: milliseconds(application.completedAt),
    decisionSummary: decisionSummary(application),
    documentExpiry: application.documentExpiry ?? undefined,
    documentType: application.documentType ?? undefined,
    errorMessage: errorMessage(application.status, attemptsRemaining),
    faceMatchOutcome: application.faceMatchOutcome ?? undefined,
    livenessOutcome: application.livenessOutcome ?? undefined,
    nationality: application.nationality ?? undefined,
    amlDecision: application.amlDecision ?? undefined,
  });
}

function milliseconds(time: Date | string | null | undefined): bigint | undefined {
  return time == null ? undefined : BigInt(new Date(time).getTime());
}
