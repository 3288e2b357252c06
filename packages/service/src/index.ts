/** What every service with a database is made of: its settings, its start and stop. */
export { readServiceConfig, type ServiceConfig } from "./service-config.ts";
export { type Clock, type RunningService, runService, type Service, type ServiceParts, startService } from "./start-service.ts";
