import { randomBytes, randomUUID } from "node:crypto";
import type { DiditSession, DiditStatus, DiditWarning } from "./didit-decision.ts";
import { destinationRoutes } from "./didit-destinations.ts";
import { type DiditOptions, DiditSessions, uuidPattern } from "./didit-sessions.ts";
import {
  accountRoutes,
  newerWorkflows,
  notFound,
  questionnaireRoutes,
  routerPage,
  userRoutes,
  workflowRoutes,
} from "./didit-settings.ts";
import { signDiditWebhook } from "./didit-signature.ts";
import { type Delivery, type ImitationResponse, ImitationServer, type ReceivedRequest, type Route } from "./imitation-server.ts";

/** Outcomes of a session that a test can select with `finish`. */
export type DiditOutcome = DiditStatus | "deleted";

/** Imitates version 3 of Didit's API, as documented at https://docs.didit.me. */
export class DiditImitation extends ImitationServer {
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly store: DiditSessions;
  protected readonly maxAttempts = 3;
  protected readonly routes: readonly Route[];

  readonly #options: DiditOptions;

  constructor(options: DiditOptions = {}) {
    super(options.callbackUrl);
    this.#options = options;
    this.apiKey = options.apiKey ?? randomBytes(24).toString("base64url");
    this.webhookSecret = options.webhookSecret ?? randomBytes(32).toString("base64url");
    const origin = () => this.url;
    this.store = new DiditSessions(options, {
      origin,
      send: (type, payload) => this.send(type, payload),
      drop: (sessionId) => {
        for (const delivery of this.deliveries) if (delivery.payload["session_id"] === sessionId) delivery.dropped = true;
      },
    });
    this.routes = [
      ...this.store.routes,
      ...workflowRoutes(() => [this.store.workflow], options.workflows ?? newerWorkflows, origin),
      ...questionnaireRoutes(origin),
      ...destinationRoutes(),
      ...userRoutes(this.store.users),
      ...accountRoutes(() => this.store.balance),
    ];
  }

  /** Returns a session, even if the session is deleted. */
  session(sessionId: string): DiditSession {
    const session = this.store.all.get(sessionId);
    if (!session) throw new Error(`no session ${sessionId}`);
    return session;
  }

  /** Changes a session to the given outcome, and sends the callbacks about the change. */
  async finish(sessionId: string, outcome: DiditOutcome, warnings?: readonly DiditWarning[]): Promise<void> {
    const session = this.session(sessionId);
    if (outcome === "deleted") this.store.delete(session);
    else {
      const starts = session.status === "Not Started" || session.status === "Resubmitted";
      if (starts && outcome !== "Expired" && outcome !== "In Progress") this.store.change(session, "In Progress");
      const negative = outcome === "Declined" || outcome === "In Review";
      session.warnings = warnings ?? (negative ? [{ feature: "FACEMATCH", risk: "LOW_FACE_MATCH_SIMILARITY" }] : []);
      this.store.change(session, outcome);
    }
    await this.settled();
  }

  /** Changes the status of a session, as a person can in Didit's console. */
  async decideInConsole(sessionId: string, status: DiditStatus, comment: string): Promise<void> {
    const session = this.session(sessionId);
    this.store.review(session, "compliance@example.com", "CONSOLE_USER", status, comment);
    this.store.change(session, status);
    await this.settled();
  }

  /**
   * Sends the callback `data.updated`, as Didit does after a person corrects data in Didit's
   * console.
   */
  async correctData(sessionId: string): Promise<void> {
    const session = this.session(sessionId);
    this.send("data.updated", this.store.payload(session, "data.updated"));
    await this.settled();
  }

  /**
   * Rejects the next matching requests with status 429. Page: /integration/rate-limiting.md
   * (2026-11-28).
   */
  rateLimit({ method = "GET", path = /./, times = 1, seconds = 30 } = {}): void {
    const creates = method === "POST" && path.test("/v3/session/");
    const detail = creates
      ? "Session creation rate limit exceeded. You can make up to 600 requests per minute."
      : method === "GET"
        ? "GET request rate limit exceeded. You can make up to 600 requests per minute."
        : "Write request rate limit exceeded. You can make up to 300 requests per minute.";
    const headers = {
      "Retry-After": String(seconds),
      "X-RateLimit-Limit": creates || method === "GET" ? "600" : "300",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(Math.floor(Date.now() / 1000) + seconds),
    };
    this.inject({ method, path, times, response: { status: 429, headers, body: { detail } } });
  }

  /**
   * Publishes a new version of the workflow. After this call, creations return no session of an
   * older version.
   */
  publishWorkflow(): void {
    const { workflow } = this.store;
    this.store.workflow = { ...workflow, uuid: randomUUID(), version: workflow.version + 1 };
  }

  protected authenticate(request: ReceivedRequest): ImitationResponse | undefined {
    if (request.path === "/system/healthcheck") return undefined;
    const owned = new RegExp(`^/v3/session/${uuidPattern}/(decision|delete|generate-pdf)/$`).exec(request.path);
    // According to the pages of these three routes, Didit returns status 404 for an unknown session
    // even if the key is wrong.
    if (owned && !this.store.live(owned[1])) return notFound;
    const key = request.headers["x-api-key"];
    if (key === this.apiKey) return undefined;
    const invalid = "Authentication credentials were not provided or are invalid.";
    if (this.#options.wrongKey === "401" && key !== undefined) return { status: 401, body: { detail: invalid } };
    const permission = "You do not have permission to perform this action.";
    return { status: 403, body: { detail: /^\/v3\/session\/[^/]+\//.test(request.path) ? invalid : permission } };
  }

  protected notFound(): ImitationResponse {
    return routerPage;
  }

  /**
   * Signs an attempt of a callback. All attempts of a callback have the same `event_id`, but
   * different timestamps and signatures.
   */
  protected sign({ payload }: Delivery): { body: string; headers: Record<string, string> } {
    const stamped = { ...payload, timestamp: Math.floor(Date.now() / 1000) };
    return signDiditWebhook(stamped, this.webhookSecret, this.#options.signatureV2 ?? "UTF-8");
  }

  /**
   * Didit repeats a failed callback after about one minute and after about four minutes. Page:
   * /integration/webhooks (2026-11-28).
   */
  protected retriesAfter(result: number | "failed"): boolean {
    return result === "failed" || result === 404 || result >= 500;
  }
}
