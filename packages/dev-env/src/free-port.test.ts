import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { DevEnvError } from "./dev-env-error.ts";
import { freePort, isPortInUse, requireFreePort } from "./free-port.ts";

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listenOn(port: number, host: string) {
  const server = createServer().listen(port, host);
  servers.push(server);
  await once(server, "listening");
}

test("freePort returns a free port, and never the same port twice", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  await listenOn(ports[0]!, "127.0.0.1");
});

test("freePort does not return a port that another process has reserved while that process runs", async () => {
  const range = { from: 19_990, to: 19_992 };
  const program = `import { freePort } from ${JSON.stringify(new URL("free-port.ts", import.meta.url).href)};
    console.log(await freePort(${JSON.stringify(range)}));
    setInterval(() => undefined, 1_000);`;
  const otherProcess = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(otherProcess.stdout, "data");
  expect(new Set([Number(String(line)), await freePort(range)])).toEqual(new Set([19_990, 19_991]));
  await expect(freePort(range)).rejects.toBeInstanceOf(DevEnvError);
  otherProcess.kill("SIGKILL");
  await once(otherProcess, "exit");
  expect(await freePort(range)).toBe(Number(String(line)));
});

test.each(["127.0.0.1", "0.0.0.0"])(
  "isPortInUse returns true and requireFreePort throws an error with the next step when a program listens at %s",
  async (host) => {
    const port = await freePort();
    expect(await isPortInUse(port)).toBe(false);
    await requireFreePort(port, "the gateway", "Set PORT");

    await listenOn(port, host);
    expect(await isPortInUse(port)).toBe(true);
    const failure = await requireFreePort(port, "the gateway", "Set PORT").catch((error) => error);
    expect(failure).toBeInstanceOf(DevEnvError);
    expect(failure.problem).toContain(`Port ${port} for the gateway`);
    expect(failure.nextStep).toContain("Set PORT");
  },
);
