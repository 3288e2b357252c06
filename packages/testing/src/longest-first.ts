import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The slowest test files. Their duration depends on the processes that they start, not on their
 * size. Files that mostly wait, such as relay.test.ts, are spread over the list, because several of
 * them at the same time leave the processors idle.
 */
const longest = [
  "system/crashes.test.ts",
  "test/api-commands.test.ts",
  "chaos/test/events.test.ts",
  "chaos/test/matrix.test.ts",
  "messaging/src/relay.test.ts",
  "system/start.test.ts",
  "system/direct-events.test.ts",
  "refund/advance-refund.test.ts",
  "system/costs.test.ts",
  "chaos/test/replicas.test.ts",
  "kyc/test/vendors.test.ts",
  "chaos/test/verdicts.test.ts",
  "delivery/delivery-worker.test.ts",
  "chaos/test/secrets.test.ts",
  "deployment/image.test.ts",
  "messaging/src/consume.test.ts",
  "chaos/test/models.test.ts",
  "test/vendors-attack.test.ts",
  "chaos/test/links.test.ts",
  "system/stop.test.ts",
  "test/checkout-browser.test.ts",
  "messaging/src/dead-letter-service.test.ts",
  "test/verification-page-browser.test.ts",
  "chaos/test/slow-clients.test.ts",
  "messaging/test/kafka.test.ts",
  "system/restore.test.ts",
  "rpc/src/listener.test.ts",
  "chaos/test/overload.test.ts",
  "jobs/reconcile-payments.test.ts",
  "chaos/test/tenants.test.ts",
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
