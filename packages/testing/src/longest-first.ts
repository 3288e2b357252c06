import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The slowest test files. Their duration depends on the processes that they start, not on their
 * size.
 */
const longest = [
  "system/crashes.test.ts",
  "test/api-commands.test.ts",
  "chaos/test/events.test.ts",
  "chaos/test/matrix.test.ts",
  "system/start.test.ts",
  "system/direct-events.test.ts",
  "system/costs.test.ts",
  "chaos/test/replicas.test.ts",
  "chaos/test/verdicts.test.ts",
  "chaos/test/secrets.test.ts",
  "chaos/test/models.test.ts",
  "chaos/test/links.test.ts",
  "kyc/test/vendors.test.ts",
  "deployment/image.test.ts",
  "system/stop.test.ts",
  "test/checkout-browser.test.ts",
  "test/verification-page-browser.test.ts",
  "chaos/test/slow-clients.test.ts",
  "test/vendors-attack.test.ts",
  "system/restore.test.ts",
  "chaos/test/overload.test.ts",
  "chaos/test/tenants.test.ts",
  "messaging/test/kafka.test.ts",
  "messaging/src/relay.test.ts",
  "refund/advance-refund.test.ts",
  "delivery/delivery-worker.test.ts",
  "messaging/src/dead-letter-service.test.ts",
  "messaging/src/consume.test.ts",
  "rpc/src/listener.test.ts",
  "jobs/reconcile-payments.test.ts",
  "dev-env/test/kafka.test.ts",
  "system/demo-vendors.test.ts",
];

/**
 * Starts the longest test files first, so that a run does not end with one long file. Vitest orders
 * the other files by their last duration, or by size in a fresh clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return rank < 0 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
