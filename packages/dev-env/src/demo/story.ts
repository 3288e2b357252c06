import { ProblemError } from "@amana/client";

export type Story = ReturnType<typeof createStory>;

/** How the demo tells what it does and what it saw. */
export function createStory(write: (text: string) => void) {
  let steps = 0;
  const say = (text: string) => write(`${text}\n`);
  const expect = (truth: boolean, what: string, seen = "something else") => {
    if (!truth) throw new Error(`Expected ${what}, but saw ${seen}.`);
    say(`   ✓ ${what}`);
  };
  return {
    say,
    /** What happens next. */
    step: (text: string) => say(`\n${++steps}. ${text}`),
    /** Says what was seen, or ends the demo when it was not. */
    expect,
    /** Likewise, of an answer with these fields. */
    expectAnswer<T extends object>(answer: T, fields: Partial<T>, what: string) {
      const holds = Object.entries(fields).every(([name, value]) => answer[name as keyof T] === value);
      expect(holds, what, JSON.stringify(answer));
    },
    /** Likewise, of a refusal with this status and code. */
    async expectRefusal(call: Promise<unknown>, status: number, code: string, what: string) {
      const seen = await call.catch((error: unknown) => error);
      const holds = seen instanceof ProblemError && seen.status === status && seen.code === code;
      expect(holds, what, seen instanceof Error ? seen.message : JSON.stringify(seen));
    },
  };
}
