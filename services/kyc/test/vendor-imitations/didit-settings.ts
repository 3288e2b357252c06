import { type ImitationResponse, objectOf, type ReceivedRequest, type Route } from "./imitation-server.ts";

/**
 * Documented formats of the list of workflows. Page:
 * https://docs.didit.me/management-api/workflows/list (2026-11-28). In the older version of the
 * page, the list is an array, `features` is a list, and prices are texts. In the newer version, the
 * list is an object with `results`, `features` is one text, and prices are numbers.
 */
export interface WorkflowsFormat {
  readonly list: "array" | "page";
  readonly features: "list" | "text";
}

export const olderWorkflows: WorkflowsFormat = { list: "array", features: "list" };
export const newerWorkflows: WorkflowsFormat = { list: "page", features: "text" };

export interface DiditWorkflow {
  /** Id of this version of the workflow. */
  readonly uuid: string;
  /** Id that all versions of the workflow share. */
  readonly workflowId: string;
  readonly label: string;
  readonly features: readonly string[];
  readonly version: number;
  readonly status: "published" | "draft";
  readonly sessionExpirationTime: number;
  readonly isArchived: boolean;
  /** Further fields of the configuration, for example `face_liveness_method`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export const notFound: ImitationResponse = { status: 404, body: { detail: "Not found." } };

/**
 * Response with status 404 for a path without a route. The body is HTML, as documented for
 * malformed identifiers.
 */
export const routerPage: ImitationResponse = {
  status: 404,
  body: "<!doctype html><title>Not Found</title><h1>Not Found</h1>",
};

/**
 * Returns a documented page object with the rows that the request selects by `limit` and `offset`.
 */
export function pageOf(rows: readonly unknown[], request: ReceivedRequest, origin: string): Record<string, unknown> {
  const limit = Math.max(1, Number(request.query.get("limit") ?? 50));
  const offset = Number(request.query.get("offset") ?? 0);
  const link = (to: number) => {
    const query = new URLSearchParams(request.query);
    query.set("limit", String(limit));
    query.set("offset", String(to));
    return `${origin}${request.path}?${query}`;
  };
  return {
    count: rows.length,
    next: offset + limit < rows.length ? link(offset + limit) : null,
    previous: offset > 0 ? link(Math.max(0, offset - limit)) : null,
    results: rows.slice(offset, offset + limit),
  };
}

// The fields are from the abbreviated example on the page
// https://docs.didit.me/management-api/workflows/get (2026-11-28).
const workflowRow = (workflow: DiditWorkflow, format: WorkflowsFormat) => ({
  uuid: workflow.uuid,
  workflow_id: workflow.workflowId,
  workflow_label: workflow.label,
  workflow_type: "kyc",
  is_default: true,
  is_archived: workflow.isArchived,
  is_white_label_enabled: false,
  total_price: format.list === "page" ? 0.15 : "0.15",
  min_price: format.list === "page" ? 0.15 : "0.15",
  max_price: format.list === "page" ? 0.15 : "0.15",
  features: format.features === "text" ? workflow.features.join(" + ") : [...workflow.features],
  is_simple_workflow: true,
  is_editable: workflow.status === "draft",
  workflow_url: "https://verify.didit.me/u/_yljPOx8RWG3UAz5ZRQGVQ",
  max_retry_attempts: 3,
  retry_window_days: 7,
  session_expiration_time: workflow.sessionExpirationTime,
  version: workflow.version,
  status: workflow.status,
  has_draft: workflow.status === "draft",
  created_by: { name: "Alex Mateo", email: "alex@example.com", type: "user" },
  updated_at: "2026-04-12T10:30:00Z",
});

const workflowDetail = (workflow: DiditWorkflow, format: WorkflowsFormat) => ({
  ...workflowRow(workflow, format),
  is_liveness_enabled: workflow.features.includes("LIVENESS"),
  face_liveness_method: "passive",
  face_liveness_score_decline_threshold: 50,
  face_liveness_score_review_threshold: 70,
  is_face_match_enabled: workflow.features.includes("FACE_MATCH"),
  face_match_score_decline_threshold: 40,
  face_match_score_review_threshold: 60,
  is_aml_enabled: workflow.features.includes("AML"),
  is_phone_verification_enabled: workflow.features.includes("PHONE_VERIFICATION"),
  is_email_verification_enabled: workflow.features.includes("EMAIL_VERIFICATION"),
  is_database_validation_enabled: workflow.features.includes("DATABASE_VALIDATION"),
  is_ip_analysis_enabled: workflow.features.includes("IP_ANALYSIS"),
  is_nfc_enabled: workflow.features.includes("NFC"),
  duplicated_user_action: "no_action",
  documents_allowed: { ESP: { P: { sides: 1, enabled: 1, subtypes: ["EPASSPORT", "PASSPORT_GENERIC"] } } },
  callback_url: null,
  published_at: workflow.status === "published" ? "2026-04-12T10:30:00Z" : null,
  created_at: "2025-01-15T10:30:00Z",
  ...workflow.settings,
});

/** Routes under /v3/workflows/. Pages: /management-api/workflows/{list,get} (2026-11-28). */
export const workflowRoutes = (
  workflows: () => readonly DiditWorkflow[],
  format: WorkflowsFormat,
  origin: () => string,
): Route[] => [
  {
    method: "GET",
    pattern: /^\/v3\/workflows\/$/,
    handle: (request) => {
      const rows = workflows().map((workflow) => workflowRow(workflow, format));
      return { status: 200, body: format.list === "array" ? rows : pageOf(rows, request, origin()) };
    },
  },
  {
    method: "GET",
    pattern: /^\/v3\/workflows\/([^/]+)\/$/,
    handle: (_request, uuid) => {
      const workflow = workflows().find((item) => item.uuid === uuid);
      return workflow ? { status: 200, body: workflowDetail(workflow, format) } : notFound;
    },
  },
];

const questionnaire = {
  questionnaire_id: "11111111-2222-3333-4444-555555555555",
  title: "Customer Onboarding",
  description: "Additional information needed for verification",
  languages: ["en"],
  default_language: "en",
  is_active: true,
  is_simple_questionnaire: true,
  graph: {
    start_node: "occupation",
    nodes: {
      occupation: { element_type: "SHORT_TEXT", is_required: true, title: { en: "What is your occupation?" }, next: null },
    },
  },
  sections: [
    {
      title: {},
      description: {},
      items: [
        {
          uuid: "11111111-2222-3333-4444-666666666666",
          value: "occupation",
          element_type: "SHORT_TEXT",
          is_required: true,
          title: { en: "What is your occupation?" },
        },
      ],
    },
  ],
  questionnaire_group_id: "11111111-2222-3333-4444-555555555555",
  version: 1,
  status: "published",
  published_at: "2026-04-23T10:00:00Z",
  is_editable: false,
};

/**
 * Routes under /v3/questionnaires/. Pages: /management-api/questionnaires/{list,get} (2026-11-28).
 */
export const questionnaireRoutes = (origin: () => string): Route[] => [
  {
    method: "GET",
    pattern: /^\/v3\/questionnaires\/$/,
    handle: (request) => {
      const { questionnaire_id: uuid, graph: _graph, sections: _sections, ...row } = questionnaire;
      const rows = [{ uuid, ...row, question_types: ["SHORT_TEXT"], workflow_names: [] }];
      return { status: 200, body: pageOf(rows, request, origin()) };
    },
  },
  {
    method: "GET",
    pattern: /^\/v3\/questionnaires\/([^/]+)\/$/,
    handle: (_request, uuid) => (uuid === questionnaire.questionnaire_id ? { status: 200, body: questionnaire } : notFound),
  },
];

/**
 * Routes for the balance and the health check. Pages: /management-api/billing/balance and the page
 * about the health check (2026-11-28).
 */
export const accountRoutes = (balance: () => string): Route[] => [
  {
    method: "GET",
    pattern: /^\/v3\/billing\/balance\/$/,
    handle: () => ({
      status: 200,
      body: { balance: balance(), auto_refill_enabled: false, auto_refill_amount: null, auto_refill_threshold: null },
    }),
  },
  {
    method: "GET",
    pattern: /^\/system\/healthcheck$/,
    handle: () => ({ status: 200, body: { status: "ok", timestamp: new Date().toISOString() } }),
  },
];

/**
 * Routes that delete users by `vendor_data`, but not the users' sessions. Page:
 * https://docs.didit.me/management-api/users/delete (2026-11-28).
 */
export const userRoutes = (users: Set<string>): Route[] => [
  {
    method: "POST",
    pattern: /^\/v3\/users\/delete\/$/,
    handle: (request) => {
      const { vendor_data_list: list, delete_all: all } = objectOf(request.body);
      if (all !== true && (!Array.isArray(list) || list.length === 0))
        return { status: 400, body: { detail: "Provide vendor_data_list or delete_all." } };
      const chosen = all === true ? [...users] : (list as unknown[]).map(String);
      return { status: 200, body: { deleted: chosen.filter((user) => users.delete(user)).length } };
    },
  },
];
