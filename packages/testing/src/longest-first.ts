import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The slowest test files. Their duration depends on the processes that they start, not on their
 * size.
 */
const longest = [
  "system/start.test.ts",
  "test/image.test.ts",
  "chaos/test/rolling.test.ts",
  "chaos/test/rotation.test.ts",
  "chaos/test/events.test.ts",
  "chaos/test/matrix.test.ts",
  "system/crash.test.ts",
  "chaos/test/tenants.test.ts",
  "chaos/test/verdicts.test.ts",
  "chaos/test/models.test.ts",
  "chaos/test/refunds.test.ts",
  "chaos/test/database.test.ts",
  "system/restore.test.ts",
  "test/amana-api.test.ts",
  "test/scenario.test.ts",
  "system/clients-crash.test.ts",
  "dev-env/test/kafka.test.ts",
  "chaos/test/overload.test.ts",
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
