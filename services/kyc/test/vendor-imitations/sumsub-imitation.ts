import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { type Delivery, type ImitationResponse, ImitationServer, type ReceivedRequest, type Route } from "./imitation-server.ts";
import { type SumsubApplicantOptions, SumsubApplicants } from "./sumsub-applicants.ts";
import { dateTime, dateTimeMs, type SumsubAmlHit, type SumsubApplicant, type SumsubResult } from "./sumsub-bodies.ts";
import { sumsubError } from "./sumsub-errors.ts";
import {
  type SdkParameters,
  type SumsubLink,
  type SumsubWebhook,
  sdkRoutes,
  settingRoutes,
  webhookRoutes,
} from "./sumsub-settings.ts";

export interface SumsubOptions extends SumsubApplicantOptions {
  readonly appToken?: string;
  readonly secretKey?: string;
  readonly webhookSecret?: string;
  readonly callbackUrl?: string;
  readonly sandbox?: boolean;
  readonly sdk?: SdkParameters;
  /**
   * Algorithm of the digest. SHA1 is the legacy algorithm, and SHA256 is the default. Page:
   * /docs/webhook-manager (2026-11-28).
   */
  readonly digest?: "HMAC_SHA1_HEX" | "HMAC_SHA256_HEX" | "HMAC_SHA512_HEX";
}

/** Outcomes of an applicant that a test can select with `finish`. */
export type SumsubOutcome =
  | "started"
  | "pending"
  | "prechecked"
  | "queued"
  | "onHold"
  | "awaitingUser"
  | "awaitingService"
  | "approved"
  | "rejected"
  | "resubmission requested"
  | "reset"
  | "deactivated"
  | "activated"
  | "deleted"
  | "personal data deleted";

const hashes = { HMAC_SHA1_HEX: "sha1", HMAC_SHA256_HEX: "sha256", HMAC_SHA512_HEX: "sha512" } as const;

/**
 * Type of the webhook for each review status. Page: /docs/user-verification-webhooks (2026-11-28).
 */
const reviewWebhooks = {
  pending: "applicantPending",
  prechecked: "applicantPrechecked",
  queued: "applicantPending",
  onHold: "applicantOnHold",
  awaitingUser: "applicantAwaitingUser",
  awaitingService: "applicantAwaitingService",
} as const;

const finalResult: SumsubResult = {
  reviewAnswer: "RED",
  rejectLabels: ["FORGERY"],
  reviewRejectType: "FINAL",
  moderationComment: "We could not verify your profile.",
  clientComment: "The document is suspected to be forged.",
  buttonIds: ["fake_forgedId"],
};

const retryResult: SumsubResult = {
  reviewAnswer: "RED",
  rejectLabels: ["UNSATISFACTORY_PHOTOS", "SCREENSHOTS"],
  reviewRejectType: "RETRY",
  moderationComment: "We do not accept screenshots. Please upload an original photo.",
  clientComment: "Screenshots are not accepted.",
  buttonIds: ["badPhoto_screenshot"],
};

/** Imitates Sumsub's API, as documented at https://docs.sumsub.com. */
export class SumsubImitation extends ImitationServer {
  readonly appToken: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly store: SumsubApplicants;
  readonly links: SumsubLink[] = [];
  /** Webhooks that are configured in the dashboard. */
  readonly webhooks: SumsubWebhook[] = [];
  protected readonly routes: readonly Route[];
  /**
   * Sumsub repeats a failed webhook after 5 minutes, 1 hour, 5 hours and 18 hours. Page:
   * /docs/webhooks (2026-11-28).
   */
  protected readonly maxAttempts = 5;

  readonly #options: SumsubOptions;

  constructor(options: SumsubOptions = {}) {
    super(options.callbackUrl);
    this.#options = options;
    this.appToken = options.appToken ?? `sbx:${randomBytes(12).toString("base64url")}.${randomBytes(24).toString("base64url")}`;
    this.secretKey = options.secretKey ?? randomBytes(24).toString("base64url");
    this.webhookSecret = options.webhookSecret ?? randomBytes(24).toString("base64url");
    this.store = new SumsubApplicants(options, (type, applicant) => this.send(type, this.#payload(type, applicant)));
    this.routes = [
      ...settingRoutes(this.store),
      ...webhookRoutes(this.webhooks),
      ...sdkRoutes(this.store, this.links, options.sdk ?? "body"),
      ...this.store.routes,
    ];
  }

  /**
   * Returns the applicant whose id or external id is `reference`, even if the applicant is
   * deactivated.
   */
  applicant(reference: string): SumsubApplicant {
    const applicant = this.store.all.get(reference) ?? this.store.byExternalId(reference);
    if (!applicant) throw new Error(`no applicant ${reference}`);
    return applicant;
  }

  /**
   * Opens a link as the person does. If no applicant exists for the link, creates one, as the
   * WebSDK does.
   */
  async open(url: string): Promise<SumsubApplicant> {
    const link = this.links.find(({ value }) => value === url);
    if (!link || link.expiresAt <= Date.now()) throw new Error(`no open link ${url}`);
    const applicant = this.store.byExternalId(link.userId) ?? this.store.add(link.userId, link.levelName);
    // The WebSDK changes the level of an existing applicant to the level of the link.
    if (applicant.status === "init") applicant.levelName = link.levelName;
    await this.settled();
    return applicant;
  }

  /** Changes an applicant to the given outcome, and sends the callbacks about the change. */
  async finish(reference: string, outcome: SumsubOutcome, result?: Partial<SumsubResult>): Promise<void> {
    const applicant = this.applicant(reference);
    const decided = outcome === "approved" || outcome === "rejected" || outcome === "resubmission requested";
    if (decided && (applicant.status === "init" || applicant.status === "completed"))
      this.store.review(applicant, "pending", "applicantPending");
    if (outcome === "started") applicant.hasDocuments = true;
    else if (decided) {
      const base: SumsubResult =
        outcome === "approved" ? { reviewAnswer: "GREEN" } : outcome === "rejected" ? finalResult : retryResult;
      this.store.review(applicant, "completed", "applicantReviewed", { ...base, ...result });
    } else if (outcome in reviewWebhooks) {
      const status = outcome as keyof typeof reviewWebhooks;
      this.store.review(applicant, status, reviewWebhooks[status]);
    } else if (outcome === "reset") this.store.reset(applicant);
    else if (outcome === "deactivated" || outcome === "activated") this.store.setActive(applicant, outcome === "activated");
    else {
      applicant.hasDocuments = false;
      applicant.erased = outcome === "deleted";
      const type = outcome === "deleted" ? "applicantDeleted" : "applicantPersonalDataDeleted";
      this.send(type, this.#payload(type, applicant));
    }
    await this.settled();
  }

  /** Sets the hits of an applicant's AML case. */
  screen(reference: string, hits: readonly SumsubAmlHit[]): void {
    this.applicant(reference).amlHits = hits;
  }

  /**
   * Rejects the next matching requests with status 429. Sumsub documents no headers of this
   * response.
   */
  rateLimit({
    method,
    path,
    times = 1,
    seconds,
  }: {
    method?: string;
    path?: RegExp;
    times?: number;
    seconds?: number;
  } = {}): void {
    const headers = seconds === undefined ? undefined : { "Retry-After": String(seconds) };
    const response = sumsubError(429, "Too many requests", undefined, headers);
    this.inject({ ...(method ? { method } : {}), ...(path ? { path } : {}), times, response });
  }

  /**
   * Verifies the signature of a request. Page: https://docs.sumsub.com/reference/authentication
   * (2026-11-28).
   */
  protected authenticate(request: ReceivedRequest): ImitationResponse | undefined {
    const { "x-app-token": token, "x-app-access-ts": ts, "x-app-access-sig": signature } = request.headers;
    if (token !== this.appToken) return sumsubError(401, "App token is invalid");
    const seconds = Number(ts);
    if (!/^\d+$/.test(String(ts)) || Math.abs(Date.now() / 1000 - seconds) > 60)
      return sumsubError(401, "Request timestamp is expired");
    const text = `${ts}${request.method}${request.url}${request.body}`;
    const expected = createHmac("sha256", this.secretKey).update(text, "utf8").digest("hex");
    const sentSignature = String(signature);
    const matches =
      sentSignature.length === expected.length && timingSafeEqual(Buffer.from(sentSignature), Buffer.from(expected));
    return matches ? undefined : sumsubError(401, "Request signature mismatch", 4003);
  }

  protected notFound(request: ReceivedRequest): ImitationResponse {
    return sumsubError(404, `HTTP 404 Not Found: ${request.path}`);
  }

  /** Signs the bytes of the body. Page: /docs/webhook-manager (2026-11-28). */
  protected sign({ payload }: Delivery): { body: string; headers: Record<string, string> } {
    const algorithm = this.#options.digest ?? "HMAC_SHA256_HEX";
    const body = JSON.stringify(payload, null, 2);
    return {
      body,
      headers: {
        "Content-Type": "application/json",
        "X-Payload-Digest-Alg": algorithm,
        "X-Payload-Digest": createHmac(hashes[algorithm], this.webhookSecret).update(body).digest("hex"),
      },
    };
  }

  protected retriesAfter(result: number | "failed"): boolean {
    return result === "failed" || result < 200 || result > 299;
  }

  // Page: https://docs.sumsub.com/docs/user-verification-webhooks (2026-11-28).
  #payload(type: string, applicant: SumsubApplicant): Record<string, unknown> {
    const now = new Date();
    return {
      applicantId: applicant.id,
      inspectionId: applicant.inspectionId,
      applicantType: applicant.type,
      correlationId: `req-${randomUUID()}`,
      levelName: applicant.levelName,
      sandboxMode: this.#options.sandbox ?? true,
      externalUserId: applicant.externalUserId,
      type,
      ...(applicant.result ? { reviewResult: applicant.result } : {}),
      reviewStatus: applicant.status,
      createdAt: `${dateTime(now)}+0000`,
      createdAtMs: dateTimeMs(now),
      clientId: this.store.clientId,
    };
  }
}
