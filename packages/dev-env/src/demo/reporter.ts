import { ProblemError } from "@amana/client";

export type Reporter = ReturnType<typeof createReporter>;

/** Creates the output of the demo: numbered steps with checked results. */
export function createReporter(write: (text: string) => void) {
  let steps = 0;
  const print = (text: string) => write(`${text}\n`);
  const expect = (holds: boolean, what: string, actual = "something else") => {
    if (!holds) throw new Error(`Expected: ${what}. Actual: ${actual}.`);
    print(`   ✓ ${what}`);
  };
  return {
    print,
    /** Prints the title of the next step. */
    step: (text: string) => print(`\n${++steps}. ${text}`),
    /**
     * Prints the expected result `what` if `holds` is true. Otherwise throws an error, which ends
     * the demo.
     */
    expect,
    /** Checks that a resource has these fields. */
    expectFields<T extends object>(resource: T, fields: Partial<T>, what: string) {
      const holds = Object.entries(fields).every(([name, value]) => resource[name as keyof T] === value);
      expect(holds, what, JSON.stringify(resource));
    },
    /** Checks that a call is rejected with this status and code. */
    async expectProblem(call: Promise<unknown>, status: number, code: string, what: string) {
      const result = await call.catch((error: unknown) => error);
      const holds = result instanceof ProblemError && result.status === status && result.code === code;
      expect(holds, what, result instanceof Error ? result.message : JSON.stringify(result));
    },
  };
}
