/** Helpers for tests of several packages and services: databases, calls, waits. */
export { aPerson, someDetails } from "@amana/dev-env/demo/a-person";
export { eventually } from "@amana/dev-env/eventually";
export { refusal, withIdempotencyKey } from "./calls.ts";
export {
  copyTestDatabase,
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
  withServiceRole,
} from "./database.ts";
export { testEventKeys, testEventSettings } from "./event-keys.ts";
export { processEnv } from "./process-env.ts";
export {
  aBusinessCaller,
  adminCaller,
  connectForTest,
  startTestServer,
  type TestService,
  testRpcSettings,
  testSigner,
} from "./rpc.ts";
export { startSandboxProcess } from "./sandbox-process.ts";
export { forAllTenants } from "./tenants.ts";
