import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { processEnv } from "./process-env.ts";

const main = join(import.meta.dirname, "..", "..", "..", "services", "sandbox", "src", "main.ts");

/** The sandbox as a process of its own on a free port, with its books in memory. Disposing ends it. */
export async function startSandboxProcess(settings: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [main], {
    env: { ...processEnv, HOST: "127.0.0.1", SANDBOX_PORT: "0", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const url = await urlOf(child);

  /** A control call, `path` from below /sandbox/. Throws when it is refused. */
  const control = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}/sandbox/${path}`, {
      method,
      ...(body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
    });
    // 404: no such order or application, but the calls that asked for it are there.
    if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };

  return {
    url,
    control,
    fault: (operation: string, mode: string, times = 1) => control("PUT", "faults", { operation, mode, times }),
    clearFaults: () => control("DELETE", "faults"),
    async [Symbol.asyncDispose]() {
      process.off("exit", kill);
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Reads on after the address came: output that nobody reads would stop the process once the pipe is full. */
function urlOf(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (!stdout) throw new Error("the sandbox's output is not there");
  return new Promise((resolve, reject) => {
    createInterface(stdout).on("line", (line) => {
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) resolve(url);
    });
    child.once("exit", () => reject(new Error("the sandbox ended before it served")));
  });
}
