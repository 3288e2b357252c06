import type { IncomingMessage } from "node:http";
import { type ApiKeyKind, hashApiKey, readApiKeyKind } from "@amana/api-keys";
import { Problem } from "../problem.ts";

/**
 * The hash, in base64, of the key a request presents as `Authorization: Bearer …` or `X-API-Key:
 * …`. A key that cannot be one, by its form or its checksum, is refused without asking anyone, and
 * so is one of a kind that opens nothing here. Throws a Problem.
 */
export function presentedKeyHash(
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  kinds: readonly ApiKeyKind[] = ["sk_live_", "sk_test_", "ak_"],
): string {
  const { authorization, "x-api-key": own } = headers;
  if (authorization !== undefined && hasOtherAuthorization(rawHeaders, authorization)) throw conflicting();
  const bearer = authorization === undefined ? undefined : bearerOf(authorization);
  const named = typeof own === "string" ? own.trim() : undefined;
  if (bearer === undefined && named === undefined) throw Problem.of("missing_api_key");
  if (bearer !== undefined && named !== undefined && bearer !== named) throw conflicting();
  const key = bearer ?? named ?? "";
  if (key === "") throw Problem.of("missing_api_key");
  const kind = readApiKeyKind(key);
  if (!kind || !kinds.includes(kind)) throw Problem.of("invalid_api_key");
  return hashApiKey(key).toString("base64");
}

const conflicting = () =>
  Problem.of("invalid_api_key", { detail: "The headers carry different keys. Send one key, in one header." });

/** Node keeps the first of several Authorization headers and drops the others without a word. */
function hasOtherAuthorization(rawHeaders: readonly string[], first: string): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 13 && name.toLowerCase() === "authorization" && rawHeaders[i + 1] !== first) return true;
  }
  return false;
}

/** The token of a bearer header (RFC 6750). Throws a Problem for any other scheme. */
function bearerOf(authorization: string): string {
  const bearer = /^bearer(?: +(?<token>[^ ].*))?$/i.exec(authorization.trim());
  if (!bearer) {
    const detail = "Authorization takes one scheme here: Authorization: Bearer <key>.";
    throw Problem.of("invalid_api_key", { detail });
  }
  return bearer.groups?.["token"]?.trim() ?? "";
}
