import { randomBytes } from "node:crypto";
import { type ImitationResponse, objectOf, type ReceivedRequest, type Route } from "./imitation-server.ts";
import {
  type AmlVendorField,
  amlBody,
  applicantBody,
  reviewBody,
  type SumsubApplicant,
  type SumsubLevel,
  type SumsubResult,
  type SumsubStatus,
  stepsBody,
} from "./sumsub-bodies.ts";
import { sumsubError } from "./sumsub-errors.ts";

export interface SumsubApplicantOptions {
  /** Status of the response to a successful creation. Sumsub does not document this status. */
  readonly creation?: 201 | 200;
  /**
   * Response to a read of a deactivated applicant. Page: /reference/deactivate-applicant-profile
   * (2026-11-28). The example on the page shows the profile with `deleted: true`. The text on the
   * page describes the profile "as if it never existed".
   */
  readonly deactivatedRead?: "profile" | "404";
  readonly amlVendorField?: AmlVendorField;
  /**
   * "required" if Sumsub requires reasons for a rejection. The page /reference/reject-applicant
   * (2026-11-28) contains only an example with reasons. According to the page
   * /reference/reject-applicant-action, reasons are required.
   */
  readonly rejectReasons?: "optional" | "required";
}

const ok: ImitationResponse = { status: 200, body: { ok: 1 } };
const checkedStatuses: readonly SumsubStatus[] = ["pending", "prechecked", "queued"];
const hexId = () => randomBytes(12).toString("hex");
const creationFields = ["email", "phone", "sourceKey", "fixedInfo", "info", "lang", "metadata", "structuredMetadata"];

/** Applicants of a Sumsub account, and the routes under /resources/applicants/. */
export class SumsubApplicants {
  readonly clientId = "amana.example";
  readonly all = new Map<string, SumsubApplicant>();
  readonly routes: readonly Route[];
  levels: readonly SumsubLevel[] = [
    {
      id: hexId(),
      name: "basic-kyc-level",
      docSets: [
        { idDocSetType: "IDENTITY", types: ["ID_CARD", "PASSPORT", "RESIDENCE_PERMIT", "DRIVERS"] },
        { idDocSetType: "SELFIE", types: ["SELFIE"], videoRequired: "passiveLiveness" },
      ],
    },
  ];

  readonly #options: SumsubApplicantOptions;
  readonly #send: (type: string, applicant: SumsubApplicant) => void;
  #amlReads: number[] = [];

  constructor(options: SumsubApplicantOptions, send: (type: string, applicant: SumsubApplicant) => void) {
    this.#options = options;
    this.#send = send;
    this.routes = [...this.#readRoutes(), ...this.#writeRoutes()];
  }

  level(name: string | null | undefined): SumsubLevel | undefined {
    return this.levels.find((level) => level.name === name);
  }

  /**
   * Returns the active applicant with the given external id. If there is none, returns the newest
   * deactivated applicant with this id.
   */
  byExternalId(externalUserId: string): SumsubApplicant | undefined {
    const own = [...this.all.values()].filter((item) => !item.erased && item.externalUserId === externalUserId);
    return own.find(({ deactivated }) => !deactivated) ?? own.at(-1);
  }

  add(externalUserId: string, levelName: string, body: Record<string, unknown> = {}): SumsubApplicant {
    const applicant: SumsubApplicant = {
      id: hexId(),
      inspectionId: hexId(),
      externalUserId,
      createdAt: new Date(),
      type: body["type"] === "company" ? "company" : "individual",
      given: Object.fromEntries(Object.entries(body).filter(([key]) => creationFields.includes(key))),
      levelName,
      status: "init",
      result: undefined,
      attempt: 1,
      hasDocuments: false,
      deactivated: false,
      erased: false,
      tags: [],
      amlHits: undefined,
    };
    this.all.set(applicant.id, applicant);
    this.#send("applicantCreated", applicant);
    return applicant;
  }

  /** Sets the review status of an applicant and sends the webhook about the change. */
  review(applicant: SumsubApplicant, status: SumsubStatus, type: string, result?: SumsubResult): void {
    if (status === "pending" && applicant.result) applicant.attempt += 1;
    if (status !== "init" && status !== "awaitingUser") applicant.hasDocuments = true;
    applicant.status = status;
    applicant.result = result;
    if (status === "completed") applicant.amlHits ??= [];
    this.#send(type, applicant);
  }

  /** Resets an applicant to the review status "init" and removes the documents. */
  reset(applicant: SumsubApplicant): void {
    applicant.hasDocuments = false;
    applicant.amlHits = undefined;
    applicant.attempt += 1;
    this.review(applicant, "init", "applicantReset");
  }

  setActive(applicant: SumsubApplicant, active: boolean): void {
    applicant.deactivated = !active;
    this.#send(active ? "applicantActivated" : "applicantDeactivated", applicant);
  }

  body(applicant: SumsubApplicant): Record<string, unknown> {
    const level = this.level(applicant.levelName) ?? this.levels[0]!;
    return applicantBody(applicant, level, this.clientId);
  }

  #found(id: string | undefined): SumsubApplicant | ImitationResponse {
    // The error is the example on the page /reference/reset-applicant (2026-11-28).
    if (!/^[0-9a-f]{24}$/.test(id ?? "")) return sumsubError(400, `Invalid id '${id}'`);
    const applicant = this.all.get(id ?? "");
    if (!applicant || applicant.erased) return sumsubError(404, `Applicant not found: ${id}`);
    return applicant;
  }

  #read(path: string, handle: (applicant: SumsubApplicant) => ImitationResponse): Route {
    return {
      method: "GET",
      pattern: new RegExp(`^/resources/${path}$`),
      handle: (_request, id) => {
        const applicant = this.#found(id);
        if (!("id" in applicant)) return applicant;
        const hidden = applicant.deactivated && this.#options.deactivatedRead === "404";
        return hidden ? sumsubError(404, `Applicant not found: ${id}`) : handle(applicant);
      },
    };
  }

  #write(path: string, handle: (applicant: SumsubApplicant, request: ReceivedRequest, step: string) => ImitationResponse): Route {
    return {
      method: "POST",
      pattern: new RegExp(`^/resources/applicants/([^/]+)/${path}$`),
      handle: (request, id, step) => {
        const applicant = this.#found(id);
        if (!("id" in applicant)) return applicant;
        const text = "Applicant has been marked as deleted/inactive. No action is allowed to change the status.";
        return applicant.deactivated ? sumsubError(409, text, 1008) : handle(applicant, request, step ?? "");
      },
    };
  }

  #readRoutes(): Route[] {
    return [
      // Page: /reference/get-applicant-data-via-externaluserid (2026-11-28).
      {
        method: "GET",
        pattern: /^\/resources\/applicants\/-;externalUserId=([^/]+)\/one$/,
        handle: (_request, externalUserId) => {
          const applicant = this.byExternalId(externalUserId ?? "");
          const hidden = applicant?.deactivated && this.#options.deactivatedRead === "404";
          return applicant && !hidden
            ? { status: 200, body: this.body(applicant) }
            : sumsubError(404, `Applicant not found: ${externalUserId}`);
        },
      },
      // Page: /reference/get-applicant-data (2026-11-28).
      this.#read("applicants/([^/]+)/one", (applicant) => ({ status: 200, body: this.body(applicant) })),
      // Page: /reference/get-applicant-review-status (2026-11-28).
      this.#read("applicants/([^/]+)/status", (applicant) => ({ status: 200, body: reviewBody(applicant) })),
      // Page: /reference/get-applicant-verification-steps-status (2026-11-28).
      this.#read("applicants/([^/]+)/requiredIdDocsStatus", (applicant) => ({
        status: 200,
        body: stepsBody(applicant, this.level(applicant.levelName) ?? this.levels[0]!),
      })),
      // Page: /reference/clarify-rejection-reason (2026-11-28).
      this.#read("moderationStates/-;applicantId=([^/]+)", ({ result }) => ({
        status: 200,
        body: result?.reviewAnswer === "RED" ? { imagesStates: {}, applicantState: { buttonIds: result.buttonIds ?? [] } } : {},
      })),
      // Page: /reference/get-aml-case-data (2026-11-28).
      this.#read("api/applicants/([^/]+)/amlCase", (applicant) => this.#amlCase(applicant)),
    ];
  }

  /** Returns the AML case of an applicant. Applies the documented limit of 10 reads per minute. */
  #amlCase(applicant: SumsubApplicant): ImitationResponse {
    this.#amlReads = [...this.#amlReads.filter((at) => at > Date.now() - 60_000), Date.now()];
    if (this.#amlReads.length > 10) return sumsubError(429, "Too many requests");
    if (!applicant.amlHits) return sumsubError(404, "AML case not found");
    return { status: 200, body: amlBody(applicant, applicant.amlHits, this.#options.amlVendorField ?? "vendorAttribution") };
  }

  #writeRoutes(): Route[] {
    const refuseDuringCheck = (applicant: SumsubApplicant) =>
      checkedStatuses.includes(applicant.status)
        ? sumsubError(409, "Applicant is being checked. Adding new data is not allowed.", 1006)
        : undefined;
    return [
      { method: "POST", pattern: /^\/resources\/applicants$/, handle: (request) => this.#create(request) },
      // Public client libraries of the API call this path. The documentation page of this path was
      // not available on 2026-11-28.
      this.#write("status/pending", (applicant) => {
        if (applicant.result?.reviewRejectType === "FINAL")
          return sumsubError(409, "Applicant has received a FINAL rejection. Adding new data/files is not allowed.", 1009);
        this.review(applicant, "pending", "applicantPending");
        return ok;
      }),
      // Page: /reference/set-review-for-applicant-on-sandbox (2026-11-28).
      this.#write("status/testCompleted", (applicant, request) => {
        this.review(applicant, "completed", "applicantReviewed", objectOf(request.body) as unknown as SumsubResult);
        return ok;
      }),
      this.#write("-/(approve|reject|init)", (applicant, request, action) => this.#decide(applicant, request, action)),
      // Page: /reference/reset-applicant (2026-11-28).
      this.#write("reset", (applicant) => {
        const refusal = refuseDuringCheck(applicant);
        if (!refusal) this.reset(applicant);
        return refusal ?? ok;
      }),
      // Page: /reference/reset-single-verification-step (2026-11-28).
      this.#write("resetStep/([A-Z0-9_]+)", (applicant) => refuseDuringCheck(applicant) ?? ok),
      // Page: /reference/change-required-document-set-per-level (2026-11-28).
      this.#write("moveToLevel", (applicant, request) => this.#moveToLevel(applicant, request)),
      // Page: /reference/run-aml-check (2026-11-28).
      this.#write("recheck/aml", (applicant) => {
        applicant.amlHits ??= [];
        return ok;
      }),
      // Page: /reference/deactivate-applicant-profile (2026-11-28).
      {
        method: "PATCH",
        pattern: /^\/resources\/applicants\/([^/]+)\/presence\/(activated|deactivated)$/,
        handle: (_request, id, presence) => {
          const applicant = this.#found(id);
          if (!("id" in applicant)) return applicant;
          const refusal = presence === "deactivated" ? refuseDuringCheck(applicant) : undefined;
          if (refusal) return refusal;
          this.setActive(applicant, presence === "activated");
          return { status: 200, body: this.body(applicant) };
        },
      },
    ];
  }

  // Page: https://docs.sumsub.com/reference/create-applicant (2026-11-28). The page does not
  // contain the error text for status 409. The text is from public client libraries, which parse
  // it.
  #create(request: ReceivedRequest): ImitationResponse {
    const levelName = request.query.get("levelName");
    if (!levelName || !this.level(levelName)) return sumsubError(404, `Level '${levelName}' not found`);
    const body = objectOf(request.body);
    const externalUserId = String(body["externalUserId"] ?? `preview-random-${randomBytes(5).toString("hex")}`);
    if (externalUserId.length > 512) return sumsubError(400, "externalUserId must be at most 512 characters");
    const existingApplicant = this.byExternalId(externalUserId);
    if (existingApplicant && !existingApplicant.deactivated)
      return sumsubError(409, `Applicant with external user id '${externalUserId}' already exists: ${existingApplicant.id}`);
    const applicant = this.add(externalUserId, levelName, body);
    return { status: this.#options.creation ?? 201, body: this.body(applicant) };
  }

  // Pages: /reference/approve-applicant, /reference/reject-applicant and
  // /reference/change-applicant-status-to-init (2026-11-28).
  #decide(applicant: SumsubApplicant, request: ReceivedRequest, action: string): ImitationResponse {
    const body = objectOf(request.body);
    const reasons = Object.values((body["reasons"] ?? {}) as Record<string, unknown>).flat();
    if (action === "approve") {
      if (reasons.length > 0) return sumsubError(409, "When approving an applicant reasons must not be provided");
      this.review(applicant, "completed", "applicantReviewed", { reviewAnswer: "GREEN" });
    } else if (request.body === "") return sumsubError(400, "The request body must not be null.");
    else if (action === "reject") {
      if (reasons.length === 0 && this.#options.rejectReasons === "required")
        return sumsubError(400, "At least one reason must be provided");
      this.review(applicant, "completed", "applicantReviewed", {
        reviewAnswer: "RED",
        rejectLabels: ["EXTERNAL_DECISION_REJECTION"],
        reviewRejectType: "FINAL",
      });
    } else {
      if (applicant.status !== "onHold") return sumsubError(400, "Applicant must be on hold to move to init");
      if (reasons.length === 0)
        return sumsubError(400, "When moving an applicant to Documents requested status at least one reason must be provided");
      this.review(applicant, "init", "applicantReset");
    }
    if (Array.isArray(body["tags"])) applicant.tags = body["tags"].map(String);
    return { status: 200, body: this.body(applicant) };
  }

  #moveToLevel(applicant: SumsubApplicant, request: ReceivedRequest): ImitationResponse {
    const name = request.query.get("name");
    if (!this.level(name)) return sumsubError(404, `Level '${name}' not found`);
    if (["pending", "queued", "onHold"].includes(applicant.status))
      return sumsubError(409, "The level of an applicant in this status cannot be changed");
    applicant.levelName = name!;
    this.#send("applicantLevelChanged", applicant);
    return { status: 200, body: this.body(applicant) };
  }
}
