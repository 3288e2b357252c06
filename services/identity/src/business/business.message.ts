import { type Business as BusinessMessage, BusinessSchema, BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { enumName } from "@amana/rpc";
import { create } from "@bufbuild/protobuf";
import type { Business, BusinessStatus as BusinessStatusName } from "./business.ts";

/** A business's columns, from the entity or straight from SQL, where times come as text. */
export type BusinessColumns = Pick<Business, "id" | "name" | "status" | "organizationId"> & {
  readonly createdAt: Date | string;
  readonly updatedAt: Date | string;
};

export interface ShownKey {
  /** Of the newest live key. */
  readonly apiKeyPrefix?: string | null | undefined;
  /** The plaintext, only in the answer that issues it. */
  readonly apiKey?: string | undefined;
}

export function toBusinessMessage(business: BusinessColumns, key: ShownKey): BusinessMessage {
  return create(BusinessSchema, {
    id: business.id,
    name: business.name,
    status: BusinessStatus[business.status],
    createdAtMs: BigInt(new Date(business.createdAt).getTime()),
    updatedAtMs: BigInt(new Date(business.updatedAt).getTime()),
    organizationId: business.organizationId,
    apiKeyPrefix: key.apiKeyPrefix ?? undefined,
    apiKey: key.apiKey,
  });
}

/** Undefined for UNSPECIFIED. */
export const toStatusName = (status: BusinessStatus): BusinessStatusName | undefined => enumName(BusinessStatus, status);
