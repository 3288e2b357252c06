import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest test files. Their size does not show it: the processes they start take the time. */
const longest = [
  "system/start.test.ts",
  "test/image.test.ts",
  "break/test/rolling.test.ts",
  "break/test/rotation.test.ts",
  "break/test/events.test.ts",
  "break/test/matrix.test.ts",
  "system/crash.test.ts",
  "break/test/tenants.test.ts",
  "break/test/verdicts.test.ts",
  "break/test/models.test.ts",
  "break/test/refunds.test.ts",
  "break/test/database.test.ts",
  "system/restore.test.ts",
  "test/amana-api.test.ts",
  "test/scenario.test.ts",
  "system/clients-crash.test.ts",
  "dev-env/test/kafka.test.ts",
  "break/test/overload.test.ts",
];

/**
 * Starts the longest test files first, so that a run does not end with one long file. Vitest orders
 * the others by their last duration, or by size in a fresh clone.
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
