import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "@amana/dev-env/free-port";
import { serviceProgram } from "@amana/dev-env/service-process";
import { connectForTest, eventually, processEnv, testEventSettings, testRpcSettings } from "@amana/testing";
import { expect } from "vitest";
import { topics } from "./start-test-service.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Starts a service as a separate process. Disposing stops it with SIGTERM. */
export async function startTestProcess(name: string, settings: Readonly<Record<string, string>>) {
  const port = await freePort();
  const program = serviceProgram(name, "main");
  const child = spawn(process.execPath, [program.file], {
    cwd: root,
    env: {
      ...processEnv,
      ...program.env,
      RPC_PORT: String(port),
      ...testEventSettings(...topics),
      ...testRpcSettings,
      LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "silent",
      ...settings,
    },
    stdio: "inherit",
  });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  const url = `http://127.0.0.1:${port}`;
  const channel = connectForTest([url], name);
  return {
    url,
    channel,
    exited,
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      child.kill("SIGTERM");
      await exited;
    },
  };
}

type TestProcess = Awaited<ReturnType<typeof startTestProcess>>;

/**
 * Makes a call during which the process is killed at the fault point of its settings. Fails when
 * the call succeeds or the process ends in another way. `probe` is a harmless call that succeeds
 * when the process is ready.
 */
export async function callUntilKilled<Client>(
  process: TestProcess,
  client: Client,
  probe: (client: Client) => Promise<unknown>,
  call: (client: Client) => Promise<unknown>,
): Promise<void> {
  await using killed = process;
  await eventually(() => probe(client));
  await expect(call(client)).rejects.toThrow();
  expect(await killed.exited).toEqual([null, "SIGKILL"]);
}
