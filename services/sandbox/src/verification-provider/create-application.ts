import { randomBytes } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import { type Body, isBoolean, isObject, isText, isWebAddress, isWholeNumber, readFields } from "../checks.ts";
import type { Application } from "./application.ts";
import { digestProfile } from "./profile.ts";
import { type DocumentType, documentTypes } from "./vocabulary.ts";

const hourMs = 3_600_000;

type Creation = Exclude<ReturnType<typeof readCreation>, { problems: string[] }>;

/** Reads the body of a creation. Ignores e-mail address and telephone number. */
export function readCreation(body: Body) {
  const { problems, required, optional } = readFields(body);
  const documentsRule = `must name at least one of ${documentTypes.join(", ")}, each once`;
  const creation = {
    reference: required("reference", isReference, "must be a text of 1 to 255 characters"),
    callbackUrl: required("callback_url", isWebAddress, "must be an http or https address"),
    redirectUrl: optional("redirect_url", isWebAddress, "must be an http or https address"),
    language: parseLanguage(optional("locale", isLocale, "must be fr, ar or en")) ?? "fr",
    allowedDocuments: optional("allowed_documents", areDocuments, documentsRule) ?? documentTypes,
    attemptsMax: optional("max_attempts", isFrom1To(10), "must be a whole number from 1 to 10") ?? 3,
    requireVideo: optional("require_video", isBoolean, "must be true or false") ?? true,
    ttlHours: optional("ttl_hours", isFrom1To(720), "must be a whole number from 1 to 720") ?? 72,
    profile: optional("profile", isObject, "must be an object"),
  };
  return problems.length > 0 ? { problems } : creation;
}

const isLocale = (value: unknown): value is string => parseLanguage(value) !== undefined;

export function createApplication({ ttlHours, profile, ...creation }: Creation, nowMs: number): Application {
  return newApplication({
    ...creation,
    dialect: "port",
    allowedDocuments: documentTypes.filter((type) => creation.allowedDocuments.includes(type)),
    providerId: `ver_${randomBytes(12).toString("hex")}`,
    linkExpiresAtMs: nowMs + ttlHours * hourMs,
    ...(profile && { profile: digestProfile(profile) }),
  });
}

type StartFields =
  | "linkToken"
  | "status"
  | "sequence"
  | "attemptsUsed"
  | "reasons"
  | "amlHitCount"
  | "steps"
  | "pendingCallbacks";

/** Returns a new application of any dialect. Its link is not opened yet. */
export function newApplication(fields: Omit<Application, StartFields>): Application {
  return {
    ...fields,
    linkToken: randomBytes(32).toString("base64url"),
    status: "CREATED",
    sequence: 1,
    attemptsUsed: 0,
    reasons: [],
    amlHitCount: 0,
    steps: {},
    pendingCallbacks: [],
  };
}

const isReference = (value: unknown): value is string => isText(value) && /^.{1,255}$/.test(value);

const isFrom1To = (max: number) => (value: unknown) => isWholeNumber(value, 1, max);

const areDocuments = (value: unknown): value is DocumentType[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  new Set(value).size === value.length &&
  value.every((name) => documentTypes.includes(name));
