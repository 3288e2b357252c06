import { type ApiKey as ApiKeyMessage, ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { create } from "@bufbuild/protobuf";
import type { ApiKey } from "./api-key.ts";

type Time = Date | string | null | undefined;

/** A key's columns, from the entity or straight from SQL, where times come as text. */
export type ApiKeyColumns = Pick<ApiKey, "id" | "businessId" | "name" | "prefix"> & {
  readonly createdAt: Date | string;
  readonly lastUsedAt?: Time;
  readonly expiresAt?: Time;
  readonly revokedAt?: Time;
};

/** `plaintext` only in the answer that issues the key. */
export function toApiKeyMessage(key: ApiKeyColumns, plaintext?: string): ApiKeyMessage {
  return create(ApiKeySchema, {
    id: key.id,
    businessId: key.businessId,
    name: key.name,
    prefix: key.prefix,
    createdAtMs: BigInt(new Date(key.createdAt).getTime()),
    lastUsedAtMs: milliseconds(key.lastUsedAt),
    expiresAtMs: milliseconds(key.expiresAt),
    revokedAtMs: milliseconds(key.revokedAt),
    apiKey: plaintext,
  });
}

function milliseconds(time: Time): bigint | undefined {
  return time ? BigInt(new Date(time).getTime()) : undefined;
}
