import type { FastifyInstance } from "fastify";
import { overrideFields } from "../dialect.ts";
import type { ProtocolRoutes } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";

/** Lifetime of a session in the sandbox's workflows. */
export const lifetimeSeconds = 7 * 86_400;

const features = ["OCR", "LIVENESS", "FACE_MATCH", "AML"];

/** Versions of each workflow. Didit uses the newest published version for new sessions. */
const versions = [
  { prefix: "dddddddd", version: 3, status: "draft" },
  { prefix: "aaaaaaaa", version: 2, status: "published" },
  { prefix: "bbbbbbbb", version: 1, status: "published" },
] as const;

/**
 * Registers the calls that read the configuration of the account (docs.didit.me/management-api).
 */
export function setupRoutes(app: FastifyInstance, { route, refuse }: ProtocolRoutes, { config, setup }: Provider): void {
  const { diditWorkflows, diditWebhookSecrets } = config;
  const rows = () =>
    Object.values(diditWorkflows).flatMap((workflowId) =>
      versions.map(({ prefix, version, status }) => ({
        uuid: `${prefix}${workflowId.slice(8)}`,
        workflow_id: workflowId,
        workflow_label: "Amana",
        workflow_type: "kyc",
        is_archived: setup.diditWorkflow["is_archived"] ?? false,
        features,
        session_expiration_time: lifetimeSeconds,
        version,
        status: (status === "published" && setup.diditWorkflow["status"]) || status,
      })),
    );

  route("GET", "/v3/workflows/", undefined, ({ query }) => {
    const all = rows();
    return { count: all.length, next: null, previous: null, results: all.slice(0, Number(query["limit"] ?? 50)) };
  });

  route("GET", "/v3/workflows/:id/", undefined, ({ params }, reply) => {
    const row = rows().find(({ uuid }) => uuid === params.id);
    if (!row) return refuse(reply, 404, "Not found.");
    const workflow = {
      ...row,
      face_liveness_method: row.workflow_id === diditWorkflows.still ? "passive" : "active_3d",
      is_aml_monitoring_enabled: false,
      documents_allowed: { DZA: { P: { enabled: 1, sides: 1 }, ID: { enabled: 1, sides: 2 } } },
      max_retry_attempts: 0,
      expected_details_mismatch_action: "review",
      duplicated_user_action: "review",
    };
    return overrideFields(workflow, setup.diditWorkflow);
  });

  app.get("/system/healthcheck", () => ({ status: "ok", timestamp: new Date().toISOString() }));

  route("GET", "/v3/webhook/destinations/:id/", undefined, ({ params }) => {
    const destination = {
      uuid: params.id,
      label: "Amana",
      url: setup.callbackUrl ? `${setup.callbackUrl}/didit` : null,
      enabled: true,
      webhook_version: "v3",
      subscribed_events: ["status.updated", "data.updated"],
      secret_shared_key: diditWebhookSecrets[0],
    };
    return overrideFields(destination, setup.webhook);
  });

  route("GET", "/v3/billing/balance/", undefined, () => ({
    balance: "100.0000",
    auto_refill_enabled: false,
    auto_refill_amount: null,
    auto_refill_threshold: null,
  }));
}
