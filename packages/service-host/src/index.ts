/** What every service with a database has: settings, start and stop, plain reads. */
export { forOperators, readOne, readPage } from "./reads.ts";
export type { ConsumedEvent, Difference, Evidence, RepairedService, SealedColumn } from "./repaired-service.ts";
export { readServiceConfig, type ServiceConfig } from "./service-config.ts";
export { type Clock, type RunningService, runService, type Service, type ServiceParts, startService } from "./start-service.ts";
