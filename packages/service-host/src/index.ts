/** Common parts of services with a database: settings, start and stop, simple reads. */
export { createGetRpc, createListRpc, operatorScope } from "./reads.ts";
export { readServiceConfig } from "./service-config.ts";
export type { ConsumedEvent, Difference, EncryptedColumn, EvidenceFile, ServiceDescription } from "./service-description.ts";
export { runService, type Service, type ServiceParts } from "./start-service.ts";
