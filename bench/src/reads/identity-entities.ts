import { defineEntity, p } from "@mikro-orm/postgresql";

export const Business = defineEntity({
  name: "Business",
  tableName: "business",
  properties: { id: p.uuid().primary(), status: p.text() },
});

export const ApiKey = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    id: p.uuid().primary(),
    hash: p.blob(),
    revokedAt: p.datetime().nullable(),
    business: () => p.manyToOne(Business),
  },
});
