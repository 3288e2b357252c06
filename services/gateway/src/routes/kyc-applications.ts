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
import type { FastifyRequest } from "fastify";
import { omittable } from "../form/field.ts";
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
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { memberText } from "../json/member-text.ts";
import { act, create, list, read } from "../operations.ts";
import { validationFailed } from "../problem.ts";

/** The provider may take 15 s, and an unknown outcome is asked for again. */
const providerTimeoutMs = 28_000;
/** A read that refreshes serves the stored state when the provider is slow. */
const refreshTimeoutMs = 15_000;

const application = { tags: ["KYC applications"], answer: KycApplicationJson, render: renderKycApplication };

export async function kycApplications(app: App, { rpc: { kycApplications: rpc }, allowInsecureUrls }: Gateway): Promise<void> {
  create(app, "", {
    ...application,
    rpc: rpc.createKycApplication,
    timeoutMs: providerTimeoutMs,
    config: { rateLimit: "kyc" },
    summary: "Create a KYC application",
    description:
      "Hand `link_url` to the applicant; the verdict arrives as a webhook. Nothing is required. When the verification " +
      "provider does not answer, send the same request with the same Idempotency-Key again: there will be one application.",
    body: omittable({
      allowed_documents: distinct(choice(kycDocuments), "must list id_card or passport or both, each once", {
        minItems: 1,
        description: "Both when left out.",
      }),
      applicant_email: email(),
      applicant_phone: phone(),
      client_id: uuid(),
      external_id: text(255, { description: "Yours for the applicant; comes back on every webhook." }),
      locale: anyCaseChoice(["fr", "ar", "en"]),
      max_attempts: integer(1, 10, { description: "Submissions on the link; 3 when left out." }),
      metadata: opaqueObject({
        description: "Yours; comes back as it was sent. At most 16 KiB, 8 levels deep.",
        examples: [{ order: 7 }],
      }),
      profile: opaqueObject({
        description: "What the applicant says; the provider compares it with the document. Neither kept, logged nor answered.",
        examples: [{ first_name: "Amina", last_name: "Benali", birth_date: "1990-05-17" }],
      }),
      redirect_url: webUrl({ insecure: allowInsecureUrls, examples: ["https://shop.example/verified"] }),
      require_video: flag(),
      ttl_hours: integer(1, 720, { description: "Lifetime of the link; the provider's own when left out." }),
    }),
    answer: KycApplicationCreation,
    render: renderKycApplicationCreation,
    ask: ({ locale = "fr", ...fields }, { send, request }) =>
      send({ ...fields, locale, metadata: opaqueText(request, "metadata"), profile: opaqueText(request, "profile") }),
  });

  list(app, "", {
    ...application,
    rpc: rpc.listKycApplications,
    summary: "List KYC applications, newest first",
    filters: {
      status: choice(kycStatuses),
      verdict: choice(kycVerdicts),
      client_id: uuid(),
      external_id: text(255),
      ...createdBetween(),
    },
  });

  read(app, "/:id", {
    ...application,
    rpc: rpc.getKycApplication,
    timeoutMs: refreshTimeoutMs,
    summary: "Read a KYC application",
    description: "One that may still change is refreshed from the verification provider, at most once in ten seconds.",
  });

  act(app, "/:id/cancel", {
    ...application,
    rpc: rpc.cancelKycApplication,
    timeoutMs: providerTimeoutMs,
    summary: "Cancel a KYC application",
    description: "The link stops working at once. Possible until something was submitted.",
  });
}

/** For operators: a business does not decide its own. */
export async function kycReviews(app: App, { rpc: { kycApplications: rpc } }: Gateway): Promise<void> {
  act(app, "/:id/review", {
    ...application,
    rpc: rpc.reviewKycApplication,
    timeoutMs: providerTimeoutMs,
    summary: "Decide a KYC application that needs review",
    description: "A compliance officer's decision, of any business's application. It is final and audited.",
    body: {
      outcome: choice(["APPROVED", "REJECTED"]),
      note: text(1_000, { description: "Why; kept in the audit trail." }),
    },
    answer: KycReviewJson,
  });
}

const opaqueBytesMax = 16 * 1024;

/**
 * The text of a member that `opaqueObject` accepted, as it was sent: parsing and writing it again
 * would change numbers and escapes that belong to the caller. Undefined when it was not sent;
 * throws a Problem above 16 KiB.
 */
function opaqueText(request: FastifyRequest, name: string): string | undefined {
  const text = request.bodyBytes ? memberText(request.bodyBytes, name) : undefined;
  if (text === undefined || Buffer.byteLength(text) <= opaqueBytesMax) return text;
  throw validationFailed([
    { pointer: `/${name}`, code: "invalid", message: `must have at most ${opaqueBytesMax} bytes as JSON without white space` },
  ]);
}
