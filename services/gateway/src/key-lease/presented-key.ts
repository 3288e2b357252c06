import type { IncomingMessage } from "node:http";
import { type ApiKeyKind, hashApiKey, readApiKeyKind } from "@amana/api-keys";
import { Problem } from "../problem.ts";

/**
 * Returns the base64 hash of the key that a request presents as `Authorization: Bearer …` or
 * `X-API-Key: …`. Throws a Problem for a key with an invalid form or checksum, and for a key whose
 * kind is not in `kinds`. Does not call identity.
 */
export function presentedKeyHash(
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  kinds: readonly ApiKeyKind[] = ["sk_live_", "sk_test_", "ak_"],
): string {
  const { authorization, "x-api-key": apiKeyHeader } = headers;
  if (authorization !== undefined && hasOtherAuthorization(rawHeaders, authorization)) throw conflictProblem();
  const bearer = authorization === undefined ? undefined : bearerOf(authorization);
  const headerKey = typeof apiKeyHeader === "string" ? apiKeyHeader.trim() : undefined;
  if (bearer === undefined && headerKey === undefined) throw Problem.of("missing_api_key");
  if (bearer !== undefined && headerKey !== undefined && bearer !== headerKey) throw conflictProblem();
  const key = bearer ?? headerKey ?? "";
  if (key === "") throw Problem.of("missing_api_key");
  const kind = readApiKeyKind(key);
  if (!kind || !kinds.includes(kind)) throw Problem.of("invalid_api_key");
  return hashApiKey(key).toString("base64");
}

const conflictProblem = () =>
  Problem.of("invalid_api_key", { detail: "The headers contain different keys. Send one key in one header." });

/** Checks the raw headers, because Node keeps only the first of several Authorization headers. */
function hasOtherAuthorization(rawHeaders: readonly string[], first: string): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 13 && name.toLowerCase() === "authorization" && rawHeaders[i + 1] !== first) return true;
  }
  return false;
}

/** Returns the token of a bearer header (RFC 6750). Throws a Problem for any other scheme. */
function bearerOf(authorization: string): string {
  const bearer = /^bearer(?: +(?<token>[^ ].*))?$/i.exec(authorization.trim());
  if (!bearer) {
    const detail = "The Authorization header must have the form: Authorization: Bearer <key>.";
    throw Problem.of("invalid_api_key", { detail });
  }
  return bearer.groups?.["token"]?.trim() ?? "";
}
