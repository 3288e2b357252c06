import { execFile } from "node:child_process";
import { startUnderGuard } from "./end-with-parent.ts";

interface CommandOptions {
  timeoutMs: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  /** Kills the program on abort. */
  signal?: AbortSignal;
}

export interface CommandResult {
  ok: boolean;
  /** Standard output and error output, trimmed. */
  output: string;
  /** Short reason of a failure, otherwise empty. */
  failure: string;
}

/**
 * Runs a program until it ends, the timeout expires or `signal` aborts. Never throws. If the
 * program is missing, `failure` of the result states this.
 */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { timeoutMs, ...spawnOptions } = options;
  return new Promise((resolve) => {
    startUnderGuard("SIGKILL", () =>
      execFile(
        command,
        args,
        { ...spawnOptions, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 16 * 1024 * 1024, encoding: "utf8" },
        (error, stdout, stderr) => {
          const output = `${stdout}\n${stderr}`.trim();
          resolve({ ok: error === null, output, failure: error === null ? "" : describeFailure(error, output, timeoutMs) });
        },
      ),
    );
  });
}

function describeFailure(error: Error & { code?: unknown; killed?: boolean }, output: string, timeoutMs: number): string {
  if (error.code === "ENOENT") return "not found";
  if (error.name === "AbortError") return "stopped";
  if (error.killed) return `no result within ${timeoutMs / 1000} s`;
  return output.split("\n").slice(-3).join(" ").trim() || `ended with code ${error.code}`;
}
