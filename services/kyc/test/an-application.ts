import { KycApplication } from "../src/kyc-application/kyc-application.ts";
import type { ApplicationState, ApplicationToCreate } from "../src/verification-provider/verification-provider.ts";

export const createdAt = new Date("2026-03-01T10:00:00.000Z");
export const linkExpiresAt = new Date("2026-03-04T10:00:00.000Z");
const id = "0195a000-0000-7000-8000-000000000001";

/** Returns a CREATED application. The application is not stored in a database. */
export const anApplication = (changes: Partial<KycApplication> = {}): KycApplication =>
  Object.assign(new KycApplication(), {
    id,
    businessId: "0195a000-0000-7000-8000-000000000002",
    status: "CREATED",
    provider: "port",
    profileKeys: [],
    providerId: "ver_1",
    linkCiphertext: "k1:x",
    linkExpiresAt,
    metadata: "{}",
    allowedDocuments: ["id_card", "passport"],
    requireVideo: true,
    maxAttempts: 3,
    attemptsUsed: 0,
    sequence: 0,
    verdict: null,
    reasonCodes: [],
    documentNotices: 0,
    amlHitCount: 0,
    checks: 0,
    revision: 0,
    syncedAt: createdAt,
    createdAt,
    updatedAt: createdAt,
    ...changes,
  });

/**
 * Returns the state of `anApplication` at the provider. By default, the state is COMPLETED and
 * APPROVED with positive evidence.
 */
export const aState = (changes: Partial<ApplicationState> = {}): ApplicationState => ({
  providerId: "ver_1",
  reference: id,
  status: "COMPLETED",
  sequence: 5,
  attemptsUsed: 1,
  verdict: "APPROVED",
  reasonCodes: [],
  livenessOutcome: "PASSED",
  faceMatchOutcome: "PASSED",
  documentType: "passport",
  documentExpiry: "2031-06-30",
  nationality: "DZA",
  amlHitCount: 0,
  amlDecision: "CLEAR",
  linkExpiresAt: undefined,
  completedAt: undefined,
  unread: [],
  ...changes,
});

/**
 * Returns a request that creates `anApplication` at a provider, with a video and both document
 * types.
 */
export const anApplicationToCreate = (changes: Partial<ApplicationToCreate> = {}): ApplicationToCreate => ({
  reference: id,
  locale: "fr",
  allowedDocuments: ["id_card", "passport"],
  maxAttempts: 1,
  requireVideo: true,
  ttlHours: undefined,
  redirectUrl: undefined,
  applicantEmail: undefined,
  applicantPhone: undefined,
  profile: undefined,
  ...changes,
});
