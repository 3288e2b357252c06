import { describe } from "vitest";
import { shareSystem } from "../../src/shared-system.ts";

shareSystem("kafka", {
  kyc: { KYC_PROVIDER_TIMEOUT_MS: "500" },
  sandbox: { KYC_CALLBACK_RETRY_SECONDS: "0.2,0.2,0.3,0.5,0.5" },
  // Onboardings are approved automatically and each approval adds an audit row. Therefore a verdict
  // that is applied twice adds two audit rows.
  clients: { ONBOARDING_AUTO_APPROVE: "true" },
});

// This suite runs first, because its last test expects no KYC applications of other suites.
describe("crashes of kyc", async () => {
  await import("./kyc-crash.ts");
});
describe("crashes of payments", async () => {
  await import("./payments-crash.ts");
});
describe("crashes of clients", async () => {
  await import("./clients-crash.ts");
});
