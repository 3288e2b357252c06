/** Common parts of services with a database: settings, start and stop, simple reads. */
export { createGetRpc, createListRpc, operatorScope } from "./reads.ts";
export { readServiceConfig, type ServiceConfig } from "./service-config.ts";
export type { ConsumedEvent, Difference, EncryptedColumn, EvidenceFile, ServiceDescription } from "./service-description.ts";
export { type Clock, type RunningService, runService, type Service, type ServiceParts, startService } from "./start-service.ts";
