import { join } from "node:path";
import { callSandboxControl } from "@amana/dev-env/demo/sandbox-control";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import { serviceProgram } from "@amana/dev-env/service-process";
import { processEnv } from "./process-env.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Starts the sandbox as a process on a free port, with its data in memory. Disposing ends it. */
export async function startSandboxProcess(settings: Readonly<Record<string, string>>) {
  const port = String(await freePort());
  const program = serviceProgram("sandbox", "main");
  const server = await spawnServer({
    command: process.execPath,
    args: [program.file],
    cwd: root,
    env: { ...processEnv, ...program.env, HOST: "127.0.0.1", SANDBOX_PORT: port, ...settings },
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => fetch(`${url}/healthz`).catch(() => Promise.reject(new Error(server.recentOutput()))));
  return {
    url,
    control: <T>(method: "GET" | "POST" | "PUT", path: string, body?: object) => callSandboxControl<T>(url, method, path, body),
    fault: (operation: string, mode: string, times = 1) => callSandboxControl(url, "PUT", "faults", { operation, mode, times }),
    clearFaults: () => callSandboxControl(url, "DELETE", "faults"),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
