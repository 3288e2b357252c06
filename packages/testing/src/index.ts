/** What tests of several packages and services share: databases, calls, waiting. */
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from "./database.ts";
export { eventually } from "./eventually.ts";
export { aBusinessCaller, adminCaller, startTestServer, type TestService, testSecret } from "./rpc.ts";
