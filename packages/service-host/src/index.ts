/** Common parts of services with a database: settings, start and stop, simple reads. */
export { forOperators, readOne, readPage } from "./reads.ts";
export type { ConsumedEvent, Difference, Evidence, RepairedService, SealedColumn } from "./repaired-service.ts";
export { readServiceConfig, type ServiceConfig } from "./service-config.ts";
export { type Clock, type RunningService, runService, type Service, type ServiceParts, startService } from "./start-service.ts";
