import { randomBytes, randomUUID } from "node:crypto";
import { type DiditReview, type DiditSession, type DiditStatus, decisionOf, hasReports } from "./didit-decision.ts";
import { listSessions, reviewBody } from "./didit-lists.ts";
import { type DiditWorkflow, notFound, pageOf, routerPage, type WorkflowsFormat } from "./didit-settings.ts";
import type { SignatureV2Text } from "./didit-signature.ts";
import { type SameStatusResponse, statusRefusal } from "./didit-status.ts";
import { type ImitationResponse, objectOf, type ReceivedRequest, type Route } from "./imitation-server.ts";

export interface DiditOptions {
  readonly apiKey?: string;
  readonly webhookSecret?: string;
  readonly callbackUrl?: string;
  readonly environment?: "live" | "sandbox";
  readonly workflow?: Partial<DiditWorkflow>;
  /**
   * Status of the response to a deletion. Page: https://docs.didit.me/sessions-api/delete-session
   * (2026-11-28). The older version of the page describes status 204 without a body, and the newer
   * version status 200 with a body.
   */
  readonly deletion?: "204" | "200";
  /**
   * Status of the response to a request with an invalid API key. Older versions of Didit's
   * documentation describe status 403, which is also the status for a missing key. Newer versions
   * describe status 401 (read on 2026-11-28).
   */
  readonly wrongKey?: "403" | "401";
  readonly sameStatus?: SameStatusResponse;
  readonly workflows?: WorkflowsFormat;
  readonly signatureV2?: SignatureV2Text;
  /**
   * True if Didit sends a webhook when a session is created. The page
   * https://docs.didit.me/identity-verification/webhooks (2026-11-28) describes this behaviour.
   * According to the page /integration/webhooks, Didit sends the first webhook after the first
   * change of the session.
   */
  readonly webhookOnCreation?: boolean;
}

/**
 * Pattern of an identifier in a path. According to the documentation, a path with any other
 * identifier matches no route.
 */
export const uuidPattern = "([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";
const unfinished: readonly DiditStatus[] = ["Not Started", "In Progress", "Resubmitted", "Awaiting User"];

/** Functions of the server that `DiditSessions` uses. */
interface Server {
  readonly origin: () => string;
  readonly send: (type: string, payload: Record<string, unknown>) => void;
  /** Cancels the queued callbacks of a session. */
  readonly drop: (sessionId: string) => void;
}

/** Sessions of a Didit application, and the routes under /v3/session/ and /v3/sessions/. */
export class DiditSessions {
  readonly applicationId = randomUUID();
  readonly all = new Map<string, DiditSession>();
  /** Values of `vendor_data` that are on the blocklist of the account. */
  readonly blocked = new Set<string>();
  /**
   * Values of `vendor_data` for which a user exists. The first session with such a value creates
   * the user.
   */
  readonly users = new Set<string>();
  readonly routes: readonly Route[];
  /** Prepaid credits. Without credits, no live session can be created. */
  balance = "1234.5600";
  workflow: DiditWorkflow;

  readonly #options: DiditOptions;
  readonly #origin: Server["origin"];
  readonly #send: Server["send"];
  readonly #drop: Server["drop"];
  #numbers = 43_761;

  constructor(options: DiditOptions, { origin, send, drop }: Server) {
    this.#options = options;
    this.#origin = origin;
    this.#send = send;
    this.#drop = drop;
    const workflowId = options.workflow?.workflowId ?? randomUUID();
    this.workflow = {
      uuid: workflowId,
      workflowId,
      label: "Standard KYC",
      features: ["OCR", "LIVENESS", "FACE_MATCH", "AML", "IP_ANALYSIS"],
      version: 1,
      status: "published",
      sessionExpirationTime: 604_800,
      isArchived: false,
      settings: {},
      ...options.workflow,
    };
    this.routes = this.#buildRoutes();
  }

  live(sessionId: string | undefined): DiditSession | undefined {
    const session = this.all.get(sessionId ?? "");
    return session?.deleted ? undefined : session;
  }

  #buildRoutes(): Route[] {
    const at = (path: string) => new RegExp(`^${path}$`);
    const withSession = (handle: (session: DiditSession, request: ReceivedRequest) => ImitationResponse): Route["handle"] => {
      return (request, id) => {
        const session = this.live(id);
        return session ? handle(session, request) : notFound;
      };
    };
    const reviews = at(`/v3/sessions/${uuidPattern}/reviews/`);
    return [
      { method: "POST", pattern: at("/v3/session/"), handle: (request) => this.#create(request) },
      {
        method: "GET",
        pattern: at(`/v3/session/${uuidPattern}/decision/`),
        handle: withSession((session) => ({ status: 200, body: decisionOf(session, this.environment) })),
      },
      {
        method: "PATCH",
        pattern: at(`/v3/session/${uuidPattern}/update-status/`),
        handle: withSession((session, request) => this.#updateStatus(session, request)),
      },
      {
        method: "DELETE",
        pattern: at(`/v3/session/${uuidPattern}/delete/`),
        handle: withSession((session) => this.#deleteByApi(session)),
      },
      {
        method: "GET",
        pattern: at(`/v3/session/${uuidPattern}/generate-pdf/`),
        handle: withSession((session) =>
          hasReports(session.status)
            ? { status: 200, headers: { "content-type": "application/pdf" }, body: "%PDF-1.7" }
            : {
                status: 403,
                body: { detail: "You can only generate a PDF for sessions in review, declined, approved or kyc expired" },
              },
        ),
      },
      { method: "GET", pattern: at("/v3/sessions/"), handle: (request) => this.#list(request) },
      {
        method: "GET",
        pattern: at("/v3/sessions"),
        handle: ({ url }) => ({ status: 301, headers: { location: url.replace("/v3/sessions", "/v3/sessions/") } }),
      },
      { method: "GET", pattern: reviews, handle: withSession((session, request) => this.#listReviews(session, request)) },
      { method: "POST", pattern: reviews, handle: withSession((session, request) => this.#addNote(session, request)) },
      { method: "POST", pattern: at("/v3/sessions/delete/"), handle: (request) => this.#deleteMany(request) },
      // Malformed identifiers match no regular route, and Didit responds with an HTML page.
      { method: "GET", pattern: at("/v3/session/[^/]+/decision/"), handle: () => routerPage },
      { method: "PATCH", pattern: at("/v3/session/[^/]+/update-status/"), handle: () => routerPage },
      { method: "DELETE", pattern: at("/v3/session/[^/]+/delete/"), handle: () => routerPage },
    ];
  }

  get environment(): "live" | "sandbox" {
    return this.#options.environment ?? "sandbox";
  }

  // Page: https://docs.didit.me/sessions-api/create-session.md (2026-11-28).
  #create(request: ReceivedRequest): ImitationResponse {
    const body = objectOf(request.body);
    const badRequest = (field: string, text: unknown): ImitationResponse => ({ status: 400, body: { [field]: text } });
    if (body["workflow_id"] === undefined) return badRequest("workflow_id", ["This field is required."]);
    const { workflow } = this;
    const isKnown = body["workflow_id"] === workflow.workflowId || body["workflow_id"] === workflow.uuid;
    if (!isKnown || workflow.status !== "published") return badRequest("workflow_id", "Invalid workflow_id.");
    const language = body["language"];
    if (language !== undefined && !/^[a-z]{2,3}(-[A-Z]{2})?$/.test(String(language)))
      return badRequest("language", [`"${language}" is not a valid choice.`]);
    const vendorData = typeof body["vendor_data"] === "string" ? body["vendor_data"] : null;
    if (vendorData !== null && this.blocked.has(vendorData))
      return badRequest("vendor_data", "This user or business has been blocked and cannot create new verification sessions.");
    if (this.environment === "live" && Number(this.balance) <= 0) {
      const text = "You don't have enough credits to perform this request. Please top up at https://business.didit.me";
      return badRequest("detail", text);
    }
    const session = this.#unfinished(vendorData) ?? this.#add(body, vendorData);
    session.callback = typeof body["callback"] === "string" ? body["callback"] : null;
    session.metadata = body["metadata"] ?? null;
    return { status: 201, body: this.#createdBody(session) };
  }

  /**
   * Returns the unfinished session with the given `vendor_data` and the workflow's latest version.
   */
  #unfinished(vendorData: string | null): DiditSession | undefined {
    return [...this.all.values()].find(
      (session) =>
        vendorData !== null &&
        !session.deleted &&
        session.vendorData === vendorData &&
        session.workflowVersion === this.workflow.version &&
        unfinished.includes(session.status),
    );
  }

  #add(body: Record<string, unknown>, vendorData: string | null): DiditSession {
    const token = randomBytes(9).toString("base64url");
    const language = body["language"] === undefined ? "" : `${body["language"]}/`;
    this.#numbers += 1;
    const session: DiditSession = {
      sessionId: randomUUID(),
      sessionNumber: this.#numbers,
      token,
      url: `https://verify.didit.me/${language}session/${token}`,
      vendorData,
      workflowId: this.workflow.workflowId,
      workflowVersion: this.workflow.version,
      createdAt: new Date().toISOString(),
      expiresAt: new Date(Date.now() + this.workflow.sessionExpirationTime * 1000).toISOString(),
      contactDetails: body["contact_details"] ?? null,
      expectedDetails: body["expected_details"] ?? null,
      reviews: [],
      internalId: randomUUID(),
      callback: null,
      metadata: body["metadata"] ?? null,
      status: "Not Started",
      warnings: [],
      deleted: false,
      inFiledReport: false,
    };
    this.all.set(session.sessionId, session);
    if (vendorData !== null) this.users.add(vendorData);
    if (this.#options.webhookOnCreation) this.#send("status.updated", this.payload(session, "status.updated"));
    return session;
  }

  #createdBody(session: DiditSession): Record<string, unknown> {
    return {
      session_id: session.sessionId,
      session_number: session.sessionNumber,
      session_token: session.token,
      url: session.url,
      vendor_data: session.vendorData,
      metadata: session.metadata,
      status: session.status,
      workflow_id: session.workflowId,
      workflow_version: session.workflowVersion,
      callback: session.callback,
    };
  }

  #updateStatus(session: DiditSession, request: ReceivedRequest): ImitationResponse {
    const body = objectOf(request.body);
    const refusal = statusRefusal(session, body, this.#options.sameStatus ?? "200");
    if (refusal) return refusal;
    const status = body["new_status"] as DiditStatus;
    const comment = typeof body["comment"] === "string" ? body["comment"] : null;
    this.review(session, "API Client", "API_KEY", status, comment);
    this.change(session, status);
    return { status: 200, body: { session_id: session.sessionId } };
  }

  review(
    session: DiditSession,
    actor: string,
    actorType: DiditReview["actorType"],
    newStatus: string | null,
    comment: string | null,
  ) {
    session.reviews.push({
      uuid: randomUUID(),
      actor,
      actorType,
      newStatus,
      previousStatus: session.status,
      comment,
      createdAt: new Date().toISOString(),
    });
  }

  change(session: DiditSession, status: DiditStatus): void {
    session.status = status;
    this.#send("status.updated", this.payload(session, "status.updated"));
  }

  // Page: https://docs.didit.me/integration/webhooks (2026-11-28). The payload contains `decision`
  // if the status is Approved, Declined, In Review or Abandoned.
  payload(session: DiditSession, type: string): Record<string, unknown> {
    const decided = hasReports(session.status) || session.status === "Abandoned";
    return {
      event_id: randomUUID(),
      webhook_type: type,
      timestamp: 0,
      created_at: Math.floor(Date.parse(session.createdAt) / 1000),
      application_id: this.applicationId,
      environment: this.environment,
      session_id: session.sessionId,
      session_kind: "user",
      status: session.status,
      workflow_id: session.workflowId,
      workflow_version: session.workflowVersion,
      vendor_data: session.vendorData,
      metadata: session.metadata,
      ...(decided ? { decision: decisionOf(session, this.environment) } : {}),
    };
  }

  #deleteByApi(session: DiditSession): ImitationResponse {
    if (this.#options.deletion === "200" && session.inFiledReport) {
      const detail = "The session is part of a finalized regulatory report.";
      return { status: 409, body: { code: "in_filed_report", detail } };
    }
    this.delete(session);
    return this.#options.deletion === "200" ? { status: 200, body: this.#deletedBody(session) } : { status: 204 };
  }

  #deletedBody(session: DiditSession): Record<string, unknown> {
    return {
      session_id: session.sessionId,
      session_number: session.sessionNumber,
      face_retention_outcome: "deleted",
      biometric_template_uuid: null,
      biometric_template_expires_at: null,
      deleted_child_verifications: 0,
    };
  }

  /**
   * Deletes a session without a callback. Cancels the session's queued callbacks and their retries.
   */
  delete(session: DiditSession): void {
    session.deleted = true;
    this.#drop(session.sessionId);
  }

  // Both versions of the page: https://docs.didit.me/management-api/sessions/batch-delete
  // (2026-11-28).
  #deleteMany(request: ReceivedRequest): ImitationResponse {
    const body = objectOf(request.body);
    const numbers = body["session_numbers"];
    const deletesAll = body["delete_all"] === true;
    if (!deletesAll && (!Array.isArray(numbers) || numbers.length === 0))
      return { status: 400, body: { session_numbers: ["This field is required."] } };
    const wanted = new Set((Array.isArray(numbers) ? numbers : []).map(String));
    const chosen = [...this.all.values()].filter(
      (item) => !item.deleted && (deletesAll || wanted.has(String(item.sessionNumber))),
    );
    for (const session of chosen) this.delete(session);
    if (this.#options.deletion !== "200") return { status: 204 };
    return { status: 200, body: { results: chosen.map((session) => this.#deletedBody(session)) } };
  }

  #list(request: ReceivedRequest): ImitationResponse {
    const rows = listSessions([...this.all.values()], request);
    return Array.isArray(rows) ? { status: 200, body: pageOf(rows, request, this.#origin()) } : rows;
  }

  // Page: https://docs.didit.me/management-api/sessions/list-reviews (2026-11-28).
  #listReviews(session: DiditSession, request: ReceivedRequest): ImitationResponse {
    return { status: 200, body: pageOf(session.reviews.toReversed().map(reviewBody), request, this.#origin()) };
  }

  // Page: https://docs.didit.me/ko/management-api/sessions/create-review (2026-11-28). In this
  // version of the page, a note does not change the session's status. In an older version, a note
  // changes the status.
  #addNote(session: DiditSession, request: ReceivedRequest): ImitationResponse {
    const body = objectOf(request.body);
    const status = body["new_status"];
    if (status !== undefined && !["Approved", "Declined", "In Review"].includes(String(status)))
      return { status: 400, body: { new_status: [`"${status}" is not a valid choice.`] } };
    const comment = typeof body["comment"] === "string" ? body["comment"] : null;
    this.review(session, "API Client", "API_KEY", (status as string | undefined) ?? null, comment);
    return { status: 201, body: reviewBody(session.reviews.at(-1)!) };
  }
}
