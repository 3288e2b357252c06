/**
 * Helpers for tests of services: start a service in the process of the test or as a separate
 * process, and check list plans, evidence columns and row-level security.
 */
export { columnsOfEvidence } from "./evidence-columns.ts";
export { businessOfRow, sampleId, skews, startListPlans, timeOfRow } from "./list-plans.ts";
export { callUntilKilled, startTestProcess } from "./start-test-process.ts";
export { createTransportTo, startTestService, type TestService } from "./start-test-service.ts";
export { tablesWithoutTenantPolicy } from "./tenant-tables.ts";
