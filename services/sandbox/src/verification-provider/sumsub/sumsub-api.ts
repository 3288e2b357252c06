import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isObject, isText, isWhole } from "../../checks.ts";
import { type Application, addNews, cancel, isUsable, renewLink, review } from "../application.ts";
import { digestProfile } from "../profile.ts";
import type { Provider } from "../provider.ts";
import { type VendorRequest, vendorRoutes } from "../vendor-route.ts";
import { documentTypes } from "../vocabulary.ts";
import { amlCaseOf, applicantOf, stepsOf } from "./applicant.ts";

const clockDifferenceSecondsMax = 60;
/** The client limits attempts, so the sandbox does not. */
const attemptsMax = 1_000;
const creationFields = ["externalUserId", "lang", "email", "phone", "fixedInfo"];
const linkFields = ["levelName", "userId", "ttlInSecs", "redirect"];

/** Simulates Sumsub's API (docs.sumsub.com) below /sumsub, as far as Amana calls it. */
export async function sumsubApi(app: FastifyInstance, provider: Provider): Promise<void> {
  const { applications, config } = provider;
  const route = vendorRoutes(app, provider, {
    authenticate: (request, reply) =>
      isSigned(request, config) ? undefined : refuse(reply, 401, "Request signature mismatch", 4003),
    refuse,
    personalFields: ["email", "phone", "fixedInfo"],
  });
  const ofApplicant =
    (handle: (application: Application, request: VendorRequest, reply: FastifyReply) => object) =>
    (request: VendorRequest, reply: FastifyReply) => {
      const application = applications.byProviderId(request.params.id ?? "");
      return application?.dialect === "sumsub" ? handle(application, request, reply) : refuse(reply, 404, "Applicant not found");
    };
  const routes = { route, ofApplicant };
  creationRoutes(routes, provider);
  linkRoutes(routes, provider);
  readRoutes(app, routes, provider);
  changeRoutes(routes, provider);
  setupRoutes(app, routes, provider);
}

interface Routes {
  readonly route: ReturnType<typeof vendorRoutes>;
  /** Calls `handle` with the applicant in the path, or responds with 404. */
  readonly ofApplicant: (
    handle: (application: Application, request: VendorRequest, reply: FastifyReply) => object,
  ) => (request: VendorRequest, reply: FastifyReply) => object;
}

/** Sets the status and returns an error body. Its description can repeat what the client sent. */
function refuse(reply: FastifyReply, status: number, description: string, errorCode?: number): object {
  reply.code(status);
  return { code: status, correlationId: "canary-correlation", errorCode, description };
}

function creationRoutes({ route }: Routes, { applications, clock, config }: Provider): void {
  route("POST", "/resources/applicants", "kyc_create", ({ body, query }, reply) => {
    const levelName = query["levelName"] ?? "";
    const level = config.sumsubLevels[levelName];
    const unknown = Object.keys(body ?? {}).find((name) => !creationFields.includes(name));
    const { externalUserId: reference, lang, fixedInfo = {} } = body ?? {};
    if (unknown) return refuse(reply, 400, `Unknown field ${unknown}`);
    if (!level) return refuse(reply, 400, `Level ${levelName} not found`);
    if (!isText(reference) || reference === "" || !isObject(fixedInfo)) return refuse(reply, 400, "externalUserId is required");
    const known = applications.byReference(reference);
    if (known) return refuse(reply, 409, `Applicant with external user id '${reference}' already exists: ${known.providerId}`);
    const { firstName: first_name, lastName: last_name, dob: birth_date } = fixedInfo;
    const application: Application = {
      dialect: "sumsub",
      vendor: { plan: levelName, profileNames: Object.keys(fixedInfo), reviews: [] },
      reference,
      language: parseLanguage(lang) ?? "en",
      providerId: randomBytes(12).toString("hex"),
      linkToken: randomBytes(32).toString("base64url"),
      callbackUrl: "",
      allowedDocuments: documentTypes.filter((type) => level.types.includes(type.toUpperCase())),
      attemptsMax,
      requireVideo: !level.isStill,
      // An applicant has no link until one is requested.
      linkExpiresAtMs: clock.nowMs() + 365 * 86_400_000,
      profile: digestProfile({ first_name, last_name, birth_date }),
      status: "CREATED",
      sequence: 1,
      attemptsUsed: 0,
      reasons: [],
      amlHitCount: 0,
      steps: {},
      news: [],
    };
    addNews(application, "created", clock.nowMs());
    applications.save(application);
    reply.code(201);
    return applicantOf(application);
  });
}

function linkRoutes({ route }: Routes, provider: Provider): void {
  const { applications, clock } = provider;
  route("POST", "/resources/sdkIntegrations/levels/-/websdkLink", "kyc_link", ({ body }, reply) => {
    const unknown = Object.keys(body ?? {}).find((name) => !linkFields.includes(name));
    const { levelName, userId, ttlInSecs, redirect } = body ?? {};
    const application = isText(userId) ? applications.byReference(userId) : undefined;
    if (unknown) return refuse(reply, 400, `Unknown field ${unknown}`);
    if (!application || application.vendor?.plan !== levelName) return refuse(reply, 404, "Applicant not found");
    if (application.status === "CANCELED") return refuse(reply, 409, "Applicant is deactivated", 1008);
    if (!isWhole(ttlInSecs, 60, 366 * 86_400)) return refuse(reply, 400, "ttlInSecs must be a whole number");
    const redirectUrl = isObject(redirect) && isText(redirect["successUrl"]) ? redirect["successUrl"] : undefined;
    renewLink(application, clock.nowMs() + ttlInSecs * 1_000, redirectUrl);
    applications.save(application);
    return { url: `${provider.publicUrl()}/verify/${application.linkToken}?link=${randomBytes(6).toString("hex")}` };
  });
}

function readRoutes(app: FastifyInstance, { route, ofApplicant }: Routes, { applications, config }: Provider): void {
  route("GET", "/resources/applicants/:id/one", "kyc_get", ofApplicant(applicantOf));
  route("GET", "/resources/applicants/:id/requiredIdDocsStatus", "kyc_get", ofApplicant(stepsOf));
  app.route<{ Params: { "*": string } }>({
    method: "GET",
    url: "/resources/applicants/-;externalUserId=*",
    handler: (request, reply) => {
      if (!isSigned(request as unknown as VendorRequest, config)) return refuse(reply, 401, "Request signature mismatch", 4003);
      const reference = decodeURIComponent(request.params["*"].replace(/\/one$/, ""));
      const application = applications.byReference(reference);
      return application?.dialect === "sumsub" ? applicantOf(application) : refuse(reply, 404, "Applicant not found");
    },
  });

  const amlCalls: number[] = [];
  route(
    "GET",
    "/resources/api/applicants/:id/amlCase",
    "kyc_aml",
    ofApplicant((application, _request, reply) => {
      const nowMs = Date.now();
      amlCalls.push(nowMs);
      while ((amlCalls[0] ?? nowMs) < nowMs - 60_000) amlCalls.shift();
      if (amlCalls.length > config.sumsubAmlPerMinute) {
        reply.header("retry-after", "1");
        return refuse(reply, 429, "Too many requests");
      }
      return amlCaseOf(application) ?? refuse(reply, 404, "AML case not found");
    }),
  );
}

function changeRoutes({ route, ofApplicant }: Routes, { applications, clock }: Provider): void {
  route(
    "PATCH",
    "/resources/applicants/:id/presence/deactivated",
    "kyc_cancel",
    ofApplicant((application, _request, reply) => {
      if (application.status === "CANCELED" || application.vendor?.isDeleted)
        return refuse(reply, 409, "Applicant is deactivated", 1008);
      if (application.pending) return refuse(reply, 409, "Applicant is being checked", 1006);
      if (application.status === "EXPIRED" || isUsable(application)) cancel(application, clock.nowMs());
      applications.save(application);
      return applicantOf(application);
    }),
  );

  for (const action of ["approve", "reject"] as const) {
    route(
      "POST",
      `/resources/applicants/:id/-/${action}`,
      "kyc_review",
      ofApplicant((application, _request, reply) => {
        if (application.vendor?.isDeleted) return refuse(reply, 409, "Applicant is deactivated", 1008);
        if (application.pending) {
          reply.header("retry-after", "5");
          return refuse(reply, 409, "Applicant is being checked");
        }
        if (application.status !== "COMPLETED") return refuse(reply, 400, "Applicant has no documents");
        if (action === "reject") application.isRejectedByApi = true;
        review(application, action === "approve" ? "APPROVED" : "REJECTED", clock.nowMs());
        applications.save(application);
        return { ok: 1 };
      }),
    );
  }
}

/** Calls that read the configuration at the vendor. */
function setupRoutes(app: FastifyInstance, { route }: Routes, { config, setup }: Provider): void {
  const levels = Object.entries(config.sumsubLevels);
  route("GET", "/resources/applicants/-/levels", undefined, () => ({
    items: levels.map(([name]) => ({ id: levelId(name), name, type: "individual" })),
    totalItems: levels.length,
  }));
  route("GET", "/resources/applicants/-/levels/:id", undefined, ({ params }, reply) => {
    const [name, level] = levels.find(([levelName]) => levelId(levelName) === params.id) ?? [];
    if (!level) return refuse(reply, 404, "Level not found");
    return {
      id: params.id,
      name,
      type: "individual",
      websdkNext: true,
      requiredIdDocs: {
        includedCountries: ["DZA"],
        docSets: [
          { idDocSetType: "IDENTITY", types: level.types, captureMode: "docapture" },
          { idDocSetType: "SELFIE", types: ["SELFIE"], videoRequired: level.isStill ? "photoRequired" : "passiveLiveness" },
        ],
      },
      ...setup.sumsubLevel,
    };
  });
  app.get("/resources/status/api", () => ({ ok: true }));
  route("GET", "/resources/api/clientWebhooks/:id", undefined, ({ params }) => ({
    id: params.id,
    target: `${setup.callbackUrl}/sumsub`,
    enabled: true,
    types: ["applicantPending", "applicantReviewed", "applicantOnHold", "applicantDeleted", "applicantPersonalDataDeleted"],
    digestAlg: "HMAC_SHA256_HEX",
    secretKey: config.sumsubWebhookSecrets[0],
    ...setup.webhook,
  }));
  route("GET", "/resources/api/agent/settings/bgCheckTargets", undefined, () => ({ targets: ["WATCHLISTS"] }));
}

const levelId = (name: string): string => createHmac("sha256", "level").update(name).digest("hex").slice(0, 24);

/** Verifies the signature over time, method, path with query as sent, and body. */
function isSigned(request: VendorRequest, config: { sumsubAppToken: string; sumsubSecretKey: string }): boolean {
  const { headers, method, url, rawBody = "" } = request;
  const seconds = String(headers["x-app-access-ts"] ?? "");
  const signature = Buffer.from(String(headers["x-app-access-sig"] ?? ""));
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > clockDifferenceSecondsMax) return false;
  const expected = Buffer.from(
    createHmac("sha256", config.sumsubSecretKey).update(`${seconds}${method}${url}${rawBody}`).digest("hex"),
  );
  const isEqual = signature.length === expected.length && timingSafeEqual(signature, expected);
  return isEqual && headers["x-app-token"] === config.sumsubAppToken;
}
