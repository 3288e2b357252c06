import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A program of this folder as a process of its own, which answers one request after the other. */
export interface Child<Request, Reply> extends AsyncDisposable {
  readonly pid: number;
  ask(request: Request): Promise<Reply>;
}

/** Starts it, and answers once it has said that it is ready. */
export async function startChild<Request extends object, Reply>(
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Child<Request, Reply>> {
  const child = fork(join(import.meta.dirname, program), {
    env: { ...process.env, ...env },
    execArgv: [],
    serialization: "advanced",
  });
  await reply(child, program);
  return {
    pid: child.pid ?? 0,
    async ask(request) {
      const answer = reply(child, program);
      child.send(request);
      return (await answer) as Reply;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}

async function reply(child: ChildProcess, program: string): Promise<unknown> {
  const over = new AbortController();
  const ended = once(child, "exit", { signal: over.signal }).then(() => {
    throw new Error(`${program} ended by itself`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal: over.signal }), ended]);
    return message;
  } finally {
    ended.catch(() => {});
    over.abort();
  }
}

/** What the program does with each request; it ends with the benchmark. */
export function answerWith<Request, Reply>(answer: (request: Request) => Promise<Reply>): void {
  process.on("message", async (request: Request) => process.send?.(await answer(request)));
  process.on("disconnect", () => process.exit(0));
  process.send?.("ready");
}

/** Milliseconds by a clock that all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
