import { randomBytes, randomUUID } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isObject, isText, isWebAddress } from "../../checks.ts";
import { type Application, cancel, recordVendorReview, review } from "../application.ts";
import { digestProfile } from "../profile.ts";
import type { Provider } from "../provider.ts";
import { type VendorRequest, vendorRoutes } from "../vendor-route.ts";
import { type DocumentType, documentTypes } from "../vocabulary.ts";
import { decisionOf, sessionStatus } from "./decision.ts";

const dayMs = 86_400_000;
/** Lifetime of a session in the sandbox's workflows. */
const lifetimeSeconds = 7 * 86_400;

const creationFields = [
  "workflow_id",
  "vendor_data",
  "language",
  "callback",
  "callback_method",
  "contact_details",
  "expected_details",
];
const detailFields = ["expected_document_types", "first_name", "last_name", "date_of_birth", "gender", "nationality"];
const documentOf: Readonly<Record<string, DocumentType>> = { ID: "id_card", P: "passport" };

/** Simulates Didit's API v3 (docs.didit.me) below /didit, as far as Amana calls it. */
export async function diditApi(app: FastifyInstance, provider: Provider): Promise<void> {
  const { applications, config } = provider;
  const route = vendorRoutes(app, provider, {
    authenticate: ({ headers }, reply) =>
      headers["x-api-key"] === config.diditApiKey
        ? undefined
        : refuse(reply, 403, "You do not have permission to perform this action."),
    refuse,
    personalFields: ["contact_details", "expected_details"],
  });
  const ofSession =
    (handle: (application: Application, request: VendorRequest, reply: FastifyReply) => object | string) =>
    (request: VendorRequest, reply: FastifyReply) => {
      const application = applications.byProviderId(request.params.id ?? "");
      const isShown = application?.dialect === "didit" && !application.vendor?.isDeleted;
      return isShown ? handle(application, request, reply) : refuse(reply, 404, "Not found.");
    };
  const routes = { route, ofSession };
  creationRoutes(routes, provider);
  decisionRoutes(routes, provider);
  lookUpRoutes(routes, provider);
  setupRoutes(app, routes, provider);
}

interface Routes {
  readonly route: ReturnType<typeof vendorRoutes>;
  /** Calls `handle` with the session in the path, or responds with 404. */
  readonly ofSession: (
    handle: (application: Application, request: VendorRequest, reply: FastifyReply) => object | string,
  ) => (request: VendorRequest, reply: FastifyReply) => object | string;
}

function refuse(reply: FastifyReply, status: number, message: string): object {
  reply.code(status);
  return { detail: message };
}

function creationRoutes({ route }: Routes, provider: Provider): void {
  const { applications, clock, config } = provider;
  const { diditWorkflows } = config;
  route("POST", "/v3/session/", "kyc_create", ({ body }, reply) => {
    const creation = readSession(body ?? {}, Object.values(diditWorkflows));
    if ("field" in creation) {
      reply.code(400);
      return { [creation.field]: [creation.problem] };
    }
    reply.code(201);
    const known = applications.byReference(creation.reference);
    // An unfinished session of the same user on the same workflow is returned again.
    const isReused =
      known?.dialect === "didit" &&
      !known.vendor?.isDeleted &&
      known.vendor?.plan === creation.plan &&
      ["CREATED", "OPENED", "SUBMITTED", "PROCESSING"].includes(known.status);
    const application =
      isReused && known ? known : createSession(creation, creation.plan === diditWorkflows.still, clock.nowMs());
    if (application !== known) applications.save(application);
    return {
      session_id: application.providerId,
      session_number: 1,
      session_token: application.linkToken,
      vendor_data: application.reference,
      status: sessionStatus(application),
      workflow_id: application.vendor?.plan,
      url: `${provider.publicUrl()}/verify/${application.linkToken}`,
    };
  });
}

function decisionRoutes({ route, ofSession }: Routes, { applications, clock }: Provider): void {
  route("GET", "/v3/session/:id/decision/", "kyc_get", ofSession(decisionOf));

  route(
    "DELETE",
    "/v3/session/:id/delete/",
    "kyc_cancel",
    ofSession((application, _request, reply) => {
      if (application.status === "CREATED" || application.status === "OPENED") cancel(application, clock.nowMs());
      if (application.vendor) application.vendor = { ...application.vendor, isDeleted: true };
      // Didit sends no callback for a deletion.
      application.news = [];
      applications.save(application);
      reply.code(204);
      return "";
    }),
  );

  route(
    "PATCH",
    "/v3/session/:id/update-status/",
    "kyc_review",
    ofSession((application, { body }, reply) => {
      const to = body?.["new_status"];
      const from = sessionStatus(application);
      if (to !== "Approved" && to !== "Declined") {
        reply.code(400);
        return { new_status: [`"${String(to)}" is not a valid choice.`] };
      }
      if (from === to) {
        reply.code(400);
        return ["The session already has this status."];
      }
      if (application.status !== "COMPLETED") return refuse(reply, 400, "The session is not finished.");
      recordVendorReview(application, { actor: "API_KEY", kind: "STATUS_UPDATED", from, to, atMs: clock.nowMs() });
      review(application, to === "Approved" ? "APPROVED" : "REJECTED", clock.nowMs());
      applications.save(application);
      return { session_id: application.providerId, status: sessionStatus(application) };
    }),
  );

  route(
    "GET",
    "/v3/sessions/:id/reviews/",
    "kyc_get",
    ofSession(({ vendor }) => ({
      results: (vendor?.reviews ?? []).map(({ actor, kind, from, to, atMs }) => ({
        activity_type: kind,
        actor_type: actor,
        // A note that the API added has the actor of the console, but no address.
        ...(actor === "CONSOLE_USER" &&
          kind === "STATUS_UPDATED" && { actor_email: "canary-officer@vendor.test", previous_status: from }),
        new_status: to,
        created_at: new Date(atMs).toISOString(),
      })),
    })),
  );
}

function lookUpRoutes({ route }: Routes, { applications }: Provider): void {
  route("GET", "/v3/sessions/", undefined, ({ query }) => {
    const application = applications.byReference(query["vendor_data"] ?? "");
    return {
      count: application ? 1 : 0,
      results: application ? [{ session_id: application.providerId, status: sessionStatus(application) }] : [],
    };
  });

  route("POST", "/v3/users/delete/", "kyc_erase", ({ body }, reply) => {
    const list = body?.["vendor_data_list"];
    if (!Array.isArray(list) || !list.every(isText)) {
      reply.code(400);
      return { vendor_data_list: ["This field is required."] };
    }
    for (const reference of list) {
      const application = applications.byReference(reference);
      if (!application?.vendor) continue;
      application.vendor = { ...application.vendor, isDeleted: true, isErased: true };
      applications.save(application);
    }
    return { deleted: list.length };
  });
}

/** Calls that read the configuration at the vendor. */
function setupRoutes(app: FastifyInstance, { route }: Routes, { config, setup }: Provider): void {
  const { diditWorkflows, diditWebhookSecrets } = config;
  const workflowIds = Object.values(diditWorkflows);
  const settingsId = (workflowId: string) => workflowId.replace(/^........-/, "aaaaaaaa-");
  route("GET", "/v3/workflows/", undefined, () => ({
    count: workflowIds.length,
    next: null,
    results: workflowIds.flatMap((workflowId) => [
      { uuid: randomUUID(), workflow_id: workflowId, version: 1, status: "published", is_archived: false },
      { uuid: settingsId(workflowId), workflow_id: workflowId, version: 2, status: "published", is_archived: false },
      { uuid: randomUUID(), workflow_id: workflowId, version: 3, status: "draft", is_archived: false },
    ]),
  }));
  route("GET", "/v3/workflows/:id/", undefined, ({ params }, reply) => {
    const workflowId = workflowIds.find((id) => settingsId(id) === params.id);
    if (!workflowId) return refuse(reply, 404, "Not found.");
    return {
      uuid: params.id,
      workflow_id: workflowId,
      workflow_type: "kyc",
      features: ["OCR", "LIVENESS", "FACE_MATCH", "AML"].map((feature) => ({ feature })),
      face_liveness_method: workflowId === diditWorkflows.still ? "passive" : "active_3d",
      max_retry_attempts: 0,
      documents_allowed: { DZA: { P: {}, ID: {} } },
      is_aml_monitoring_enabled: false,
      expected_details_mismatch_action: "review",
      duplicated_user_action: "review",
      session_expiration_time: lifetimeSeconds,
      ...setup.diditWorkflow,
    };
  });
  app.get("/system/healthcheck", () => ({ status: "ok", timestamp: new Date().toISOString() }));
  route("GET", "/v3/webhook/destinations/:id/", undefined, ({ params }) => ({
    id: params.id,
    url: `${setup.callbackUrl}/didit`,
    enabled: true,
    webhook_version: "v3",
    events: ["status.updated", "data.updated"],
    secret_shared_key: diditWebhookSecrets[0],
    ...setup.webhook,
  }));
  route("GET", "/v3/billing/balance/", undefined, () => ({ balance: "100.00", currency: "USD" }));
}

type Creation = Exclude<ReturnType<typeof readSession>, { field: string }>;

function readSession(body: Readonly<Record<string, unknown>>, workflowIds: readonly string[]) {
  const invalid = (field: string, problem: string) => ({ field, problem });
  const unknown = Object.keys(body).find((name) => !creationFields.includes(name));
  if (unknown) return invalid(unknown, "This field is not known.");
  const { workflow_id: plan, vendor_data: reference, language, callback, expected_details: details = {} } = body;
  if (!isText(plan) || !workflowIds.includes(plan)) return invalid("workflow_id", "There is no published workflow with this id.");
  if (!isText(reference) || reference === "") return invalid("vendor_data", "This field is required.");
  if (callback !== undefined && !isWebAddress(callback)) return invalid("callback", "Enter a valid URL.");
  if (!isObject(details)) return invalid("expected_details", "Expected a dictionary.");
  const unknownDetail = Object.keys(details).find((name) => !detailFields.includes(name));
  if (unknownDetail) return invalid("expected_details", `${unknownDetail} is not known.`);
  const types = details["expected_document_types"] ?? ["ID", "P"];
  if (!Array.isArray(types) || !types.every((type) => Object.hasOwn(documentOf, String(type)))) {
    return invalid("expected_details", "expected_document_types must list P and ID.");
  }
  return {
    plan,
    reference,
    language: parseLanguage(language) ?? "en",
    redirectUrl: isText(callback) ? callback : undefined,
    allowedDocuments: documentTypes.filter((type) => types.some((code) => documentOf[String(code)] === type)),
    details,
  };
}

function createSession({ plan, details, ...creation }: Creation, isStill: boolean, nowMs: number): Application {
  const { first_name, last_name, date_of_birth: birth_date } = details;
  return {
    ...creation,
    dialect: "didit",
    vendor: { plan, profileNames: Object.keys(details).filter((name) => name !== "expected_document_types"), reviews: [] },
    providerId: randomUUID(),
    linkToken: randomBytes(32).toString("base64url"),
    callbackUrl: "",
    attemptsMax: 1,
    requireVideo: !isStill,
    linkExpiresAtMs: nowMs + (lifetimeSeconds / 86_400) * dayMs,
    profile: digestProfile({ first_name, last_name, birth_date }),
    status: "CREATED",
    sequence: 1,
    attemptsUsed: 0,
    reasons: [],
    amlHitCount: 0,
    steps: {},
    news: [],
  };
}
