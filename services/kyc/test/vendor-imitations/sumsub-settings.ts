import { randomBytes, randomUUID } from "node:crypto";
import { type ImitationResponse, objectOf, type ReceivedRequest, type Route } from "./imitation-server.ts";
import type { SumsubApplicants } from "./sumsub-applicants.ts";
import { levelBody } from "./sumsub-bodies.ts";
import { sumsubError } from "./sumsub-errors.ts";

/**
 * Position of the parameters in a request for a link or token. Pages:
 * /reference/generate-websdk-external-link and /reference/generate-access-token (2026-11-28). In
 * the older versions of the pages, the parameters are in the path and the query. In the newer
 * versions, the parameters are in the body.
 */
export type SdkParameters = "query" | "body";

/** A link to the WebSDK or an access token that the imitation issued. */
export interface SumsubLink {
  /** The URL of a link, or the token. */
  readonly value: string;
  readonly userId: string;
  readonly levelName: string;
  readonly expiresAt: number;
  readonly redirect: unknown;
}

/** Routes that issue links and tokens. */
export function sdkRoutes(applicants: SumsubApplicants, links: SumsubLink[], parameters: SdkParameters): Route[] {
  const issue = (value: string, userId: unknown, levelName: unknown, ttl: unknown, redirect?: unknown) => {
    const level = applicants.level(String(levelName));
    if (!userId) return sumsubError(400, "userId must not be empty");
    if (!level) return sumsubError(404, `Level '${levelName}' not found`);
    const seconds = Number(ttl ?? 600);
    const expiresAt = Date.now() + seconds * 1000;
    links.push({ value, userId: String(userId), levelName: level.name, expiresAt, redirect });
    return undefined;
  };
  const link = (userId: unknown, levelName: unknown, ttl: unknown, redirect?: unknown): ImitationResponse => {
    const url = `https://in.sumsub.com/websdk/p/${randomBytes(12).toString("base64url")}`;
    return issue(url, userId, levelName, ttl, redirect) ?? { status: 200, body: { url } };
  };
  const token = (userId: unknown, levelName: unknown, ttl: unknown): ImitationResponse => {
    const value = `_act-sbx-jwt-${randomUUID()}`;
    return issue(value, userId, levelName, ttl) ?? { status: 200, body: { token: value, userId } };
  };
  if (parameters === "body")
    return [
      {
        method: "POST",
        pattern: /^\/resources\/sdkIntegrations\/levels\/-\/websdkLink$/,
        handle: (request) => {
          const { userId, levelName, ttlInSecs, redirect } = objectOf(request.body);
          return link(userId, levelName, ttlInSecs, redirect);
        },
      },
      {
        method: "POST",
        pattern: /^\/resources\/accessTokens\/sdk$/,
        handle: (request) => {
          const { userId, levelName, ttlInSecs } = objectOf(request.body);
          return token(userId, levelName, ttlInSecs);
        },
      },
    ];
  return [
    {
      method: "POST",
      pattern: /^\/resources\/sdkIntegrations\/levels\/([^/]+)\/websdkLink$/,
      handle: ({ query }, levelName) => link(query.get("externalUserId"), levelName, query.get("ttlInSecs")),
    },
    {
      method: "POST",
      pattern: /^\/resources\/accessTokens$/,
      handle: ({ query }) => token(query.get("userId"), query.get("levelName"), query.get("ttlInSecs")),
    },
  ];
}

/** A webhook with the fields of the documented schema `ClientWebhook`, without "disabled". */
export interface SumsubWebhook {
  readonly id: string;
  readonly name: string;
  readonly target: string;
  readonly targetType: "http";
  readonly types: readonly string[];
  readonly secretKey: string;
  readonly signatureAlgorithm: "HMAC_SHA1_HEX" | "HMAC_SHA256_HEX" | "HMAC_SHA512_HEX";
  readonly notResendFailedWebhooks: boolean;
}

/**
 * Routes that read webhooks. File: https://github.com/SUMSUB/agent-skills, webhook-schema.md
 * (2026-11-28).
 */
export const webhookRoutes = (webhooks: readonly SumsubWebhook[]): Route[] => [
  {
    method: "GET",
    pattern: /^\/resources\/api\/clientWebhooks$/,
    handle: () => ({ status: 200, body: { list: { items: webhooks } } }),
  },
  {
    method: "GET",
    pattern: /^\/resources\/api\/clientWebhooks\/([^/]+)$/,
    handle: (_request: ReceivedRequest, id) => {
      const webhook = webhooks.find((item) => item.id === id);
      return webhook ? { status: 200, body: webhook } : sumsubError(404, `Webhook '${id}' not found`);
    },
  },
];

/**
 * Routes that read settings. Pages: /reference/get-available-applicant-levels and
 * /reference/review-api-health (2026-11-28). The paths of a single level and of questionnaires are
 * from the vendor's repository https://github.com/SUMSUB/agent-skills (2026-11-28).
 */
export const settingRoutes = (applicants: SumsubApplicants): Route[] => [
  {
    method: "GET",
    pattern: /^\/resources\/applicants\/-\/levels$/,
    handle: () => ({
      status: 200,
      body: {
        items: applicants.levels.map((level) => levelBody(level, applicants.clientId)),
        totalItems: applicants.levels.length,
      },
    }),
  },
  {
    method: "GET",
    pattern: /^\/resources\/applicants\/-\/levels\/([^/]+)$/,
    handle: (_request: ReceivedRequest, id) => {
      const level = applicants.levels.find((item) => item.id === id);
      return level ? { status: 200, body: levelBody(level, applicants.clientId) } : sumsubError(404, `Level '${id}' not found`);
    },
  },
  {
    method: "GET",
    pattern: /^\/resources\/api\/agent\/questionnaires\/([^/]+)$/,
    handle: (_request: ReceivedRequest, id) =>
      id === "source-of-funds"
        ? {
            status: 200,
            body: {
              id,
              title: "Source of funds",
              sections: [{ id: "main", title: "Main", items: [{ id: "source", title: "Source", type: "text", required: true }] }],
            },
          }
        : sumsubError(404, `Questionnaire '${id}' not found`),
  },
  {
    method: "GET",
    pattern: /^\/resources\/api\/agent\/settings\/bgCheckTargets$/,
    handle: () => ({ status: 200, body: { allowed: ["WATCHLISTS", "POA", "QUESTIONNAIRE"], descriptions: {} } }),
  },
  { method: "GET", pattern: /^\/resources\/status\/api$/, handle: () => ({ status: 200, body: { ok: 1 } }) },
];
