import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { DevEnvError } from "./dev-env-error.ts";
import { waitUntil } from "./eventually.ts";

/**
 * Range of the ports that `freePort` returns. The range is below the ephemeral ports of Linux and
 * macOS. An outgoing connection therefore cannot occupy the port before the server starts, or while
 * a test keeps the server down.
 */
const lowestPort = 20_000;
const highestPort = 32_000;
const attemptsMax = 50;
/** Maximum time for which the port of a killed process may stay in use. */
const releaseTimeoutMs = 2_000;

/** Returns a free TCP port on 127.0.0.1 that is not reserved by any running process. */
export async function freePort({ from = lowestPort, to = highestPort } = {}): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(from, to);
    if (!(await reserve(port))) continue;
    if (!(await isPortInUse(port))) return port;
  }
  throw new DevEnvError(`No port between ${from} and ${to} is free.`, "Stop programs that use many ports, and try again.");
}

/**
 * Reserves the port for this process by binding the UDP port with the same number, which no service
 * uses. The reservation remains while the TCP server is down. The operating system releases it when
 * the process ends for any reason.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      socket.unref();
      resolve(true);
    });
  });
}

/** Returns whether a program listens on the port, at the loopback address or at all addresses. */
export async function isPortInUse(port: number): Promise<boolean> {
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    if ((await bindFailure(port, host)) === "EADDRINUSE") return true;
  }
  return false;
}

/**
 * Throws DevEnvError if a server cannot listen on `port`. `purpose` names the server ("the
 * gateway"). `change` states how to choose another port ("Set PORT").
 */
export async function requireFreePort(port: number, purpose: string, change: string): Promise<void> {
  if (!(await waitUntil(async () => !(await isPortInUse(port)), releaseTimeoutMs))) {
    throw new DevEnvError(
      `Port ${port} for ${purpose} is used by another program.`,
      `Stop that program (to find it: lsof -i tcp:${port}). Or: ${change}.`,
    );
  }
  const failure = await bindFailure(port, "127.0.0.1");
  if (failure !== undefined) {
    throw new DevEnvError(`Port ${port} for ${purpose} cannot be opened (${failure}).`, `${change}. Choose a port above 1023.`);
  }
}

function bindFailure(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
