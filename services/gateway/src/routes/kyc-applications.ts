import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
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
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import {
  anyCaseChoice,
  choice,
  distinct,
  email,
  flag,
  integer,
  opaqueObject,
  phone,
  text,
  timestamp,
  timestampMs,
  uuid,
} from "../form/fields.ts";
import { opaqueText } from "../form/opaque-text.ts";
import { pageParameters } from "../form/query.ts";
import { webUrl } from "../form/web-url.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

/** The provider may take 15 s, and an unknown outcome is asked for again. */
const providerTimeoutMs = 28_000;
/** A read that refreshes serves the stored state when the provider is slow. */
const refreshTimeoutMs = 15_000;

const tags = ["KYC applications"];
const json = "application/json; charset=utf-8";
const view = () => Type.Unsafe<string>(KycApplicationJson);

export const kycApplications =
  ({ rpc, allowInsecureUrls }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "",
      {
        config: { rateLimit: "kyc" },
        schema: {
          tags,
          operationId: "createKycApplication",
          summary: "Create a KYC application",
          description:
            "Hand `link_url` to the applicant; the verdict arrives as a webhook. Nothing is required. When the verification " +
            "provider does not answer, send the same request with the same Idempotency-Key again: there will be one application.",
          body: bodyOf(
            {
              allowed_documents: Type.Optional(
                distinct(choice(kycDocuments), "must list id_card or passport or both, each once", {
                  minItems: 1,
                  description: "Both when left out.",
                }),
              ),
              applicant_email: Type.Optional(email()),
              applicant_phone: Type.Optional(phone()),
              client_id: Type.Optional(uuid()),
              external_id: Type.Optional(text(255, { description: "Yours for the applicant; comes back on every webhook." })),
              locale: Type.Optional(anyCaseChoice(["fr", "ar", "en"])),
              max_attempts: Type.Optional(integer(1, 10, { description: "Submissions on the link; 3 when left out." })),
              metadata: Type.Optional(
                opaqueObject({
                  description: "Yours; comes back as it was sent. At most 16 KiB, 8 levels deep.",
                  examples: [{ order: 7 }],
                }),
              ),
              profile: Type.Optional(
                opaqueObject({
                  description:
                    "What the applicant says; the provider compares it with the document. Neither kept, logged nor answered.",
                  examples: [{ first_name: "Amina", last_name: "Benali", birth_date: "1990-05-17" }],
                }),
              ),
              redirect_url: Type.Optional(webUrl({ insecure: allowInsecureUrls, examples: ["https://shop.example/verified"] })),
              require_video: Type.Optional(flag()),
              ttl_hours: Type.Optional(
                integer(1, 720, { description: "Lifetime of the link; the provider's own when left out." }),
              ),
            },
            { optional: true },
          ),
          response: { 201: KycApplicationCreation },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const application = await rpc.kycApplications.createKycApplication(
          {
            allowedDocuments: body.allowed_documents ?? [],
            applicantEmail: body.applicant_email,
            applicantPhone: body.applicant_phone,
            clientId: body.client_id,
            externalId: body.external_id,
            locale: body.locale ?? "fr",
            maxAttempts: body.max_attempts,
            metadata: opaqueText(request, "metadata") ?? "",
            profile: opaqueText(request, "profile"),
            redirectUrl: body.redirect_url,
            requireVideo: body.require_video,
            ttlHours: body.ttl_hours,
          },
          callOf(request, reply, providerTimeoutMs),
        );
        reply.code(201).header("location", `/api/v1/kyc/applications/${application.id}`);
        return renderKycApplicationCreation(application);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listKycApplications",
          summary: "List KYC applications, newest first",
          querystring: Type.Object({
            ...pageParameters(),
            status: Type.Optional(choice(kycStatuses)),
            verdict: Type.Optional(choice(kycVerdicts)),
            client_id: Type.Optional(uuid()),
            external_id: Type.Optional(text(255)),
            created_from: Type.Optional(timestamp({ description: "Created at this time or later." })),
            created_to: Type.Optional(timestamp({ description: "Created before this time, which is itself left out." })),
          }),
          response: { 200: Type.Unsafe<string>(Type.Array(KycApplicationJson)) },
        },
      },
      async (request, reply) => {
        const { query } = request;
        const page = await rpc.kycApplications.listKycApplications(
          {
            limit: query.limit,
            offset: query.offset,
            status: query.status && KycStatus[query.status],
            verdict: query.verdict && KycVerdict[query.verdict],
            clientId: query.client_id,
            externalId: query.external_id,
            createdFromMs: timestampMs(query.created_from),
            createdToMs: timestampMs(query.created_to),
          },
          callOf(request, reply),
        );
        pageHeaders(request, reply, query, page);
        return reply.type(json).send(`[${page.applications.map(renderKycApplication).join(",")}]`);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getKycApplication",
          summary: "Read a KYC application",
          description: "One that may still change is refreshed from the verification provider, at most once in ten seconds.",
          params: PathId,
          response: { 200: view() },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        const application = await rpc.kycApplications.getKycApplication({ id }, callOf(request, reply, refreshTimeoutMs));
        return reply.type(json).send(renderKycApplication(application));
      },
    );

    app.post(
      "/:id/cancel",
      {
        schema: {
          tags,
          operationId: "cancelKycApplication",
          summary: "Cancel a KYC application",
          description: "The link stops working at once. Possible until something was submitted.",
          params: PathId,
          body: bodyOf({}, { optional: true }),
          response: { 200: view() },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        const application = await rpc.kycApplications.cancelKycApplication({ id }, callOf(request, reply, providerTimeoutMs));
        return reply.type(json).send(renderKycApplication(application));
      },
    );
  };

/** For operators: a business does not decide its own. */
export const kycReviews =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.post(
      "/:id/review",
      {
        schema: {
          tags,
          operationId: "reviewKycApplication",
          summary: "Decide a KYC application that needs review",
          description: "A compliance officer's decision, of any business's application. It is final and audited.",
          params: PathId,
          body: bodyOf({
            outcome: choice(["APPROVED", "REJECTED"]),
            note: text(1_000, { description: "Why; kept in the audit trail." }),
          }),
          response: { 200: Type.Unsafe<string>(KycReviewJson) },
        },
      },
      async (request, reply) => {
        const { outcome, note } = request.body;
        const application = await rpc.kycApplications.reviewKycApplication(
          { id: pathId(request.params), outcome: KycVerdict[outcome], note },
          callOf(request, reply, providerTimeoutMs),
        );
        return reply.type(json).send(renderKycApplication(application));
      },
    );
  };
