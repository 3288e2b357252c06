import type { Answer } from "./api.ts";

/** How the demo tells what it does and what it saw. */
export interface Story {
  say(text: string): void;
  /** What happens next. */
  step(text: string): void;
  /** Says what was seen, or ends the demo when it was not. */
  expect(truth: boolean, what: string, answer?: Answer): void;
}

export function createStory(write: (text: string) => void): Story {
  let steps = 0;
  const say = (text: string) => write(`${text}\n`);
  return {
    say,
    step: (text) => say(`\n${++steps}. ${text}`),
    expect(truth, what, answer) {
      if (!truth) {
        const seen = answer ? `${answer.status} ${JSON.stringify(answer.body)}` : "something else";
        throw new Error(`Expected ${what}, but saw ${seen}.`);
      }
      say(`   ✓ ${what}`);
    },
  };
}
