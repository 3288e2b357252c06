import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { processEnv } from "@amana/testing";

/** Starts a script of this folder as a process. Disposing kills it. */
export function startChild(script: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname], {
    env: { ...processEnv, LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "silent", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const ended = Promise.all([once(child, "exit"), once(output, "close")]);
  return {
    lines,
    async nextLine(): Promise<string> {
      const [line] = await once(output, "line");
      return line as string;
    },
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves with the signal that ended the process, or null. */
    ended: async () => {
      const [[, signal]] = await ended;
      return signal as string | null;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
