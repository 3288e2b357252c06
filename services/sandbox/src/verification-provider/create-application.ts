import { randomBytes } from "node:crypto";
import { type Language, parseLanguage } from "../pages/language.ts";
import { type Application, newApplication } from "./application.ts";
import { digestProfile } from "./profile.ts";
import { type DocumentType, documentTypes } from "./vocabulary.ts";

const hourMs = 3_600_000;

interface Wish {
  readonly reference: string;
  readonly language: Language;
  readonly allowedDocuments: readonly DocumentType[];
  readonly attemptsMax: number;
  readonly requireVideo: boolean;
  readonly ttlHours: number;
  readonly callbackUrl: string;
  readonly redirectUrl?: string;
  readonly profile?: Record<string, unknown>;
}

type Body = Readonly<Record<string, unknown>>;

/** Reads the body of a creation. The e-mail address and the telephone number are not even looked at. */
export function readWish(body: Body): Wish | { problems: string[] } {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const {
    reference,
    callback_url: callbackUrl,
    redirect_url: redirectUrl,
    profile,
    locale = "fr",
    allowed_documents: allowed = documentTypes,
    max_attempts: attemptsMax = 3,
    require_video: requireVideo = true,
    ttl_hours: ttlHours = 72,
  } = body;
  const language = parseLanguage(locale);
  check(typeof reference === "string" && /^.{1,255}$/.test(reference), "reference must be a text of 1 to 255 characters");
  check(isWebAddress(callbackUrl), "callback_url must be an http or https address");
  check(redirectUrl === undefined || isWebAddress(redirectUrl), "redirect_url must be an http or https address");
  check(language !== undefined, "locale must be fr, ar or en");
  check(areDocuments(allowed), `allowed_documents must name at least one of ${documentTypes.join(", ")}, each once`);
  check(isWhole(attemptsMax, 1, 10), "max_attempts must be a whole number from 1 to 10");
  check(typeof requireVideo === "boolean", "require_video must be true or false");
  check(isWhole(ttlHours, 1, 720), "ttl_hours must be a whole number from 1 to 720");
  check(profile === undefined || isObject(profile), "profile must be an object");
  if (problems.length > 0) return { problems };
  return {
    reference: String(reference),
    language: language as Language,
    allowedDocuments: documentTypes.filter((type) => (allowed as unknown[]).includes(type)),
    attemptsMax: Number(attemptsMax),
    requireVideo: requireVideo === true,
    ttlHours: Number(ttlHours),
    callbackUrl: String(callbackUrl),
    ...(redirectUrl !== undefined && { redirectUrl: String(redirectUrl) }),
    ...(isObject(profile) && { profile }),
  };
}

export function createApplication({ ttlHours, profile, ...wish }: Wish, nowMs: number): Application {
  return newApplication({
    ...wish,
    providerId: `ver_${randomBytes(12).toString("hex")}`,
    linkToken: randomBytes(32).toString("base64url"),
    linkExpiresAtMs: nowMs + ttlHours * hourMs,
    ...(profile && { profile: digestProfile(profile) }),
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isWhole = (value: unknown, min: number, max: number) =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const isWebAddress = (value: unknown) => typeof value === "string" && /^https?:$/.test(URL.parse(value)?.protocol ?? "");

function areDocuments(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size < value.length) return false;
  return value.every((name) => documentTypes.some((type) => type === name));
}
