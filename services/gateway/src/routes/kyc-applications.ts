import {
  KycApplicationCreation,
  KycApplicationJson,
  KycReviewJson,
  kycDocuments,
  kycStatuses,
  kycVerdicts,
  renderKycApplication,
  renderKycApplicationCreation,
} from "@amana/public-api";
import { optionalFields } from "../form/field.ts";
import {
  anyCaseChoice,
  choice,
  createdBetween,
  distinct,
  email,
  flag,
  integer,
  opaqueObject,
  phone,
  text,
  uuid,
} from "../form/fields.ts";
import { readOpaqueText } from "../form/opaque-text.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addCreateRoute, addListRoute, addReadRoute } from "../operations.ts";

/**
 * Timeout of RPCs for which kyc calls the provider. By default, kyc waits at most 15 s for the
 * provider, and it queries the provider again after an unknown outcome.
 */
const providerTimeoutMs = 28_000;
/** Timeout of a read. If the provider is slow, kyc returns the stored state before this timeout. */
const refreshTimeoutMs = 15_000;

const application = { tag: "KYC", response: KycApplicationJson, render: renderKycApplication } as const;

export async function kycApplications(app: App, { rpc: { kycApplications: rpc }, allowInsecureUrls }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...application,
    rpc: rpc.createKycApplication,
    timeoutMs: providerTimeoutMs,
    config: { rateLimit: "kyc" },
    summary: "Create a KYC application",
    description:
      "Creates a verification at the verification provider. Send `link_url` to the applicant; webhooks report the " +
      "verdict. No field is required. When the provider does not respond (503 or 504), send the same request with the same " +
      "Idempotency-Key again; this creates one application.",
    body: optionalFields({
      allowed_documents: distinct(choice(kycDocuments), "must be a list of id_card, passport or both, each once", {
        minItems: 1,
        description: "Accepted identity documents; both by default.",
      }),
      applicant_email: email("E-mail address of the applicant."),
      applicant_phone: phone("Phone number of the applicant (E.164)."),
      client_id: uuid("Client whose identity is verified."),
      external_id: text(255, { description: "Your own identifier of the applicant; included in each webhook." }),
      locale: anyCaseChoice(["fr", "ar", "en"], "Language of the verification pages, fr by default."),
      max_attempts: integer(1, 10, { description: "Maximum number of submissions on the link; 3 by default." }),
      metadata: opaqueObject({
        description: "Your own data, returned unchanged. At most 16 KiB and 8 levels deep.",
        examples: [{ order: 7 }],
      }),
      profile: opaqueObject({
        description:
          "Data of the applicant, which the provider compares with the document. It is not stored, logged or returned. At most 16 KiB and 8 levels deep.",
        examples: [{ first_name: "Amina", last_name: "Benali", birth_date: "1990-05-17" }],
      }),
      redirect_url: webUrl(
        allowInsecureUrls,
        "Page to which the applicant returns after the verification.",
        "https://shop.example/verified",
      ),
      require_video: flag("Whether the applicant must record a video."),
      ttl_hours: integer(1, 720, { description: "Lifetime of the link in hours; by default that of the provider." }),
    }),
    response: KycApplicationCreation,
    render: renderKycApplicationCreation,
    execute: ({ locale = "fr", ...fields }, { send, request }) =>
      send({ ...fields, locale, metadata: readOpaqueText(request, "metadata"), profile: readOpaqueText(request, "profile") }),
  });

  addListRoute(app, "", {
    ...application,
    rpc: rpc.listKycApplications,
    summary: "List KYC applications",
    description: "Returns the applications of your business that match all filters, newest first.",
    filters: {
      status: choice(kycStatuses),
      verdict: choice(kycVerdicts),
      client_id: uuid("Client whose identity is verified."),
      external_id: text(255, { description: "Your own identifier of the applicant." }),
      ...createdBetween(),
    },
  });

  addReadRoute(app, "/:id", {
    ...application,
    rpc: rpc.getKycApplication,
    timeoutMs: refreshTimeoutMs,
    summary: "Get a KYC application",
    description:
      "Returns an application with its verdict. While it is not final, its state is refreshed from the verification " +
      "provider, at most once in ten seconds.",
  });

  addActionRoute(app, "/:id/cancel", {
    ...application,
    rpc: rpc.cancelKycApplication,
    timeoutMs: providerTimeoutMs,
    summary: "Cancel a KYC application",
    description:
      "Cancels an application and its link at once. Fails with 409 `kyc_in_progress` after the applicant has submitted " +
      "documents, and with 409 `kyc_application_final` when the application is final.",
  });
}

/** Adds the operation with which operators decide applications that need a review. */
export async function kycReviews(app: App, { rpc: { kycApplications: rpc } }: Gateway): Promise<void> {
  addActionRoute(app, "/:id/review", {
    ...application,
    tag: "Operators",
    rpc: rpc.reviewKycApplication,
    timeoutMs: providerTimeoutMs,
    summary: "Review a KYC application",
    description:
      "Decides an application with the verdict NEEDS_REVIEW, of any business. The decision is final and recorded in the " +
      "audit trail. Fails with 409 `kyc_review_not_open` for other applications.",
    body: {
      outcome: choice(["APPROVED", "REJECTED"], "Verdict of the review."),
      note: text(1_000, { description: "Reason, stored in the audit trail." }),
    },
    response: KycReviewJson,
  });
}
