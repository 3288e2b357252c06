import type { Answer } from "./api.ts";

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
    /** Likewise, of an answer with this status and these fields. */
    expectAnswer({ status, body }: Answer, wanted: number, fields: Readonly<Record<string, unknown>>, what: string) {
      const holds = Object.entries(fields).every(([name, value]) => body[name] === value);
      expect(status === wanted && holds, what, `${status} ${JSON.stringify(body)}`);
    },
  };
}
