import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { DevEnvError } from "./dev-env-error.ts";
import { until } from "./eventually.ts";

/**
 * Below the range from which Linux and macOS take the ports of outgoing connections, so that none
 * of those occupies the port between the choice and the start of the server, or while a server is
 * down on purpose.
 */
const lowestPort = 20_000;
const highestPort = 32_000;
const attemptsMax = 50;
/** A process that was killed may hold its port a moment longer than it can be seen. */
const freedWithinMs = 2_000;

/** A TCP port on 127.0.0.1 that is free and that no process which still lives was given before. */
export async function freePort({ from = lowestPort, to = highestPort } = {}): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(from, to);
    if (!(await reserve(port))) continue;
    if (!(await portInUse(port))) return port;
  }
  throw new DevEnvError(
    `No free port was found between ${from} and ${to}.`,
    "Stop programs that listen on many ports, and try again.",
  );
}

/**
 * UDP has ports of its own, which nothing here uses: who holds the UDP port of a number has the TCP
 * port of that number for itself among us. A server may be down for a while, or start later, and
 * the operating system gives the number back when the process ends, however it ends.
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

/** Whether a program listens on the port, on the loopback or on all addresses. */
export async function portInUse(port: number): Promise<boolean> {
  for (const host of ["127.0.0.1", "0.0.0.0"]) {
    if ((await bindFailure(port, host)) === "EADDRINUSE") return true;
  }
  return false;
}

/**
 * Throws DevEnvError when `port` cannot be listened on. `purpose` is what wanted it ("the
 * gateway"), `change` how to choose another ("Set PORT").
 */
export async function requireFreePort(port: number, purpose: string, change: string): Promise<void> {
  if (!(await until(async () => !(await portInUse(port)), freedWithinMs))) {
    throw new DevEnvError(
      `Port ${port}, wanted for ${purpose}, is taken by another program.`,
      `Stop that program (lsof -i tcp:${port} names it). Or: ${change}.`,
    );
  }
  const failure = await bindFailure(port, "127.0.0.1");
  if (failure !== undefined) {
    throw new DevEnvError(`Port ${port}, wanted for ${purpose}, cannot be opened (${failure}).`, `${change}, to one above 1023.`);
  }
}

function bindFailure(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
