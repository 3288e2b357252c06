import { join } from "node:path";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import { processEnv } from "./process-env.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** The sandbox as a process on a free port, with its books in memory. Disposing ends it. */
export async function startSandboxProcess(settings: Readonly<Record<string, string>>) {
  const port = String(await freePort());
  const server = await spawnServer({
    command: process.execPath,
    args: [join("services", "sandbox", "src", "main.ts")],
    cwd: root,
    env: { ...processEnv, HOST: "127.0.0.1", SANDBOX_PORT: port, ...settings },
    exitSignal: "SIGKILL",
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(`${url}/healthz`).catch(() => Promise.reject(new Error(server.recentOutput()))));

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
    [Symbol.asyncDispose]: () =>
      server.stop([
        { signal: "SIGTERM", waitMs: 10_000 },
        { signal: "SIGKILL", waitMs: 2_000 },
      ]),
  };
}
