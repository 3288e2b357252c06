import { sleep } from "@amana/runtime";
import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";
import { trackKeyUse } from "./key-lease/key-use.ts";
import { createLeaseWait } from "./key-lease/lease-wait.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

export const createContext = ({ config, orm, logger, clock, use }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  keyMode: config.keyMode,
  auditSigningKey: config.auditSigningKey,
  leases: createLeaseWait({ leaseMs: config.keyLeaseMs, wait: sleep }),
  keyUse: use(trackKeyUse(orm, logger)),
});
