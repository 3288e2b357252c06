import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A child process that runs a program of this folder and handles one request at a time. */
export interface Child<Request, Reply> extends AsyncDisposable {
  readonly pid: number;
  request(request: Request): Promise<Reply>;
}

/** Starts the program and resolves when it is ready. */
export async function startChild<Request extends object, Reply>(
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Child<Request, Reply>> {
  const child = fork(join(import.meta.dirname, program), {
    env: { ...process.env, ...env },
    execArgv: [],
    serialization: "advanced",
  });
  await nextMessage(child, program);
  return {
    pid: child.pid ?? 0,
    async request(message) {
      const result = nextMessage(child, program);
      child.send(message);
      return (await result) as Reply;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
}

async function nextMessage(child: ChildProcess, program: string): Promise<unknown> {
  const received = new AbortController();
  const exited = once(child, "exit", { signal: received.signal }).then(() => {
    throw new Error(`${program} exited unexpectedly`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal: received.signal }), exited]);
    return message;
  } finally {
    exited.catch(() => {});
    received.abort();
  }
}

/** Called by the child process. Handles each request, and exits when the benchmark disconnects. */
export function serveRequests<Request, Reply>(handle: (request: Request) => Promise<Reply>): void {
  process.on("message", async (request: Request) => process.send?.(await handle(request)));
  process.on("disconnect", () => process.exit(0));
  process.send?.("ready");
}

/** Returns the time in milliseconds of a clock that all processes of the machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
