import { Float } from "./didit-signature.ts";

// Page: https://docs.didit.me/sessions-api/retrieve-session.md (2026-11-28). The values are from
// the page's example. They include personal data, which kyc must not store.

/** Session statuses. Page: https://docs.didit.me/integration/verification-statuses (2026-11-28). */
export type DiditStatus =
  | "Not Started"
  | "In Progress"
  | "Awaiting User"
  | "In Review"
  | "Approved"
  | "Declined"
  | "Resubmitted"
  | "Expired"
  | "Kyc Expired"
  | "Abandoned";

/** A warning in the report of a feature. */
export interface DiditWarning {
  /** Name of the feature: "ID_VERIFICATION", "LIVENESS", "FACEMATCH" or "AML". */
  readonly feature: string;
  /** Name of the risk, for example "LOW_FACE_MATCH_SIMILARITY". */
  readonly risk: string;
  readonly log_type?: string;
}

export interface DiditReview {
  readonly uuid: string;
  readonly actor: string;
  readonly actorType: "API_KEY" | "CONSOLE_USER" | "SYSTEM";
  readonly newStatus: string | null;
  readonly previousStatus: string | null;
  readonly comment: string | null;
  readonly createdAt: string;
}

export interface DiditSession {
  readonly sessionId: string;
  readonly sessionNumber: number;
  readonly token: string;
  readonly url: string;
  readonly vendorData: string | null;
  readonly workflowId: string;
  readonly workflowVersion: number;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly contactDetails: unknown;
  readonly expectedDetails: unknown;
  readonly reviews: DiditReview[];
  readonly internalId: string;
  callback: string | null;
  metadata: unknown;
  status: DiditStatus;
  warnings: readonly DiditWarning[];
  deleted: boolean;
  inFiledReport: boolean;
}

/** Names of the imitated workflow's features in the field `features` of a decision. */
export const decisionFeatures = ["ID_VERIFICATION", "LIVENESS", "FACE_MATCH", "AML", "IP_ANALYSIS"] as const;

type FeatureStatus = "Not Finished" | "Approved" | "Declined" | "In Review" | "Resub Requested";

/**
 * Returns whether the decision contains reports of the features, because the person has completed
 * the session.
 */
export const hasReports = (status: DiditStatus): boolean =>
  status === "Approved" || status === "Declined" || status === "In Review" || status === "Kyc Expired";

const warningsOf = (session: DiditSession, feature: string, nodeId: string) =>
  session.warnings
    .filter((warning) => warning.feature === feature)
    .map(({ risk, log_type = "warning" }) => ({
      feature,
      risk,
      additional_data: null,
      log_type,
      short_description: risk,
      long_description: `A finding of the check: ${risk}.`,
      node_id: nodeId,
    }));

/**
 * Returns the status of a feature. In a finished session, a feature with a warning has the
 * session's status, and a feature without a warning has the status "Approved".
 */
export function featureStatus(session: DiditSession, feature: string): FeatureStatus {
  if (session.status === "Resubmitted") return "Resub Requested";
  if (!hasReports(session.status)) return "Not Finished";
  const found = session.warnings.some((warning) => warning.feature.replace("FACEMATCH", "FACE_MATCH") === feature);
  return found && (session.status === "Declined" || session.status === "In Review") ? session.status : "Approved";
}

const idVerification = (session: DiditSession) => ({
  node_id: "feature_ocr_1",
  status: featureStatus(session, "ID_VERIFICATION"),
  document_type: "Identity Card",
  document_subtype: "ID_CARD_GENERIC",
  document_number: "CAA000000",
  personal_number: "99999999R",
  portrait_image: "https://media.example/portrait.jpg",
  front_image: "https://media.example/front.jpg",
  back_image: "https://media.example/back.jpg",
  date_of_birth: "1980-01-01",
  age: 45,
  expiration_date: "2031-06-02",
  date_of_issue: "2021-06-02",
  issuing_state: "ESP",
  issuing_state_name: "Spain",
  first_name: "Carmen",
  last_name: "Española Española",
  full_name: "Carmen Española Española",
  gender: "F",
  address: "Avda de Madrid 34, Madrid, Madrid",
  formatted_address: "Avda de Madrid 34, Madrid, Madrid 28822, Spain",
  place_of_birth: "Madrid",
  marital_status: "Single",
  nationality: "ESP",
  extra_fields: { dl_categories: [], blood_group: null },
  mrz: { surname: "ESPANOLA ESPANOLA", name: "CARMEN", document_number: "CAA000000", warnings: [], errors: [] },
  parsed_address: { city: "Madrid", country: "ES", street_1: "Avda de Madrid 34", street_2: null, postal_code: "28822" },
  extra_files: [],
  matches: [],
  warnings: warningsOf(session, "ID_VERIFICATION", "feature_ocr_1"),
});

const livenessCheck = (session: DiditSession) => ({
  node_id: "feature_liveness_1",
  status: featureStatus(session, "LIVENESS"),
  method: "ACTIVE_3D",
  score: 89.92,
  reference_image: "https://media.example/reference.jpg",
  video_url: "https://media.example/video.mp4",
  age_estimation: 24.3,
  matches: [],
  warnings: warningsOf(session, "LIVENESS", "feature_liveness_1"),
  face_quality: null,
  face_luminance: null,
});

const faceMatch = (session: DiditSession) => ({
  node_id: "feature_face_match_1",
  status: featureStatus(session, "FACE_MATCH"),
  score: new Float(95),
  source_image_session_id: null,
  source_image: "https://media.example/source-image.jpg",
  target_image: "https://media.example/target-image.jpg",
  warnings: warningsOf(session, "FACEMATCH", "feature_face_match_1"),
});

const amlScreening = (session: DiditSession) => {
  const warnings = warningsOf(session, "AML", "feature_aml_1");
  return {
    node_id: "feature_aml_1",
    status: featureStatus(session, "AML"),
    total_hits: warnings.length,
    entity_type: "person",
    hits: warnings.map(() => ({
      id: "cPtTGRKkyddAcAC4xgsLCm",
      url: "https://news.example.org/articles/sample",
      match: false,
      score: 0.73,
      caption: "Javier Ejemplo Modelo",
      datasets: ["PEP"],
      match_score: 98,
      risk_score: 73,
      review_status: "Unreviewed",
      pep_matches: [{ matched_name: "Javier Ejemplo Modelo", list_name: "Wikidata", date_of_birth: "1974" }],
      sanction_matches: [],
      warning_matches: [],
      adverse_media_matches: [],
    })),
    score: new Float(80),
    screened_data: { full_name: "Carmen Española", nationality: "ES", date_of_birth: "1980-01-01", document_number: null },
    is_ongoing_monitoring_enabled: true,
    next_ongoing_monitoring_bill_date: "2026-07-24",
    warnings,
  };
};

const ipAnalysis = () => ({
  node_id: "feature_ip_1",
  status: "Approved",
  device_brand: "Apple",
  device_model: "iPhone",
  browser_family: "Mobile Safari",
  os_family: "iOS",
  platform: "mobile",
  device_fingerprint: "didit-fp-a1b2c3d4e5f6g7h8",
  ip_country: "Spain",
  ip_country_code: "ES",
  ip_city: "Barcelona",
  latitude: 41.4022,
  longitude: 2.1407,
  ip_address: "83.50.226.71",
  is_vpn_or_tor: false,
  is_data_center: false,
  time_zone: "Europe/Madrid",
  warnings: [],
  matches: [],
});

/** Returns the decision report of a session. */
export function decisionOf(session: DiditSession, environment: "live" | "sandbox"): Record<string, unknown> {
  const reports = hasReports(session.status);
  return {
    session_id: session.sessionId,
    session_kind: "user",
    session_number: session.sessionNumber,
    session_url: session.url,
    status: session.status,
    environment,
    workflow_id: session.workflowId,
    features: [...decisionFeatures],
    vendor_data: session.vendorData,
    metadata: session.metadata,
    expected_details: session.expectedDetails,
    contact_details: session.contactDetails,
    callback: session.callback,
    // A feature's report is null until the person has completed the session.
    id_verifications: reports ? [idVerification(session)] : null,
    nfc_verifications: null,
    liveness_checks: reports ? [livenessCheck(session)] : null,
    face_matches: reports ? [faceMatch(session)] : null,
    poa_verifications: null,
    document_ai_documents: null,
    phone_verifications: null,
    email_verifications: null,
    aml_screenings: reports ? [amlScreening(session)] : null,
    ip_analyses: reports ? [ipAnalysis()] : null,
    database_validations: null,
    questionnaire_responses: null,
    reviews: session.reviews
      .filter(({ newStatus }) => newStatus !== null)
      .map(({ actor, newStatus, comment, createdAt }) => ({
        user: actor,
        new_status: newStatus,
        comment,
        created_at: createdAt,
      })),
    created_at: session.createdAt,
    expires_at: session.expiresAt,
  };
}

/**
 * Returns an entry in the list of `GET /v3/sessions/`. Page: /sessions-api/list-sessions
 * (2026-11-28).
 */
export function sessionRow(session: DiditSession): Record<string, unknown> {
  const reports = hasReports(session.status);
  return {
    session_id: session.sessionId,
    session_kind: "user",
    session_number: session.sessionNumber,
    session_url: session.url,
    portrait_image: reports ? "https://media.example/portrait.jpg" : null,
    document_type: reports ? "Identity Card" : null,
    full_name: reports ? "Carmen Española Española" : null,
    country: reports ? "ESP" : null,
    status: session.status,
    vendor_data: session.vendorData,
    didit_internal_id: session.internalId,
    created_at: session.createdAt,
    features: decisionFeatures.map((feature) => ({ feature, status: featureStatus(session, feature) })),
    phone_number: null,
    email_address: null,
    additional_details: reports ? { aml: { total_hits: 0, entity_type: "person", is_adverse_media_fetched: false } } : null,
  };
}
