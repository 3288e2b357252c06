import { mkdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Client } from "pg";
import { DevEnvError } from "./dev-env-error.ts";
import { waitUntil } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { postgresEnv, prepareDataFolder, removalAdvice, superuser } from "./postgres/data-folder.ts";
import { ownerSetting, postgresStopSteps, stopLeftoverPostmaster } from "./postgres/leftover-postmaster.ts";
import { postgresPrograms } from "./postgres/postgres-programs.ts";
import { launcher, systemUser } from "./postgres/system-user.ts";
import { type LogLine, type ServerProcess, spawnServer } from "./server-process.ts";

interface PostgresOptions {
  /** Folder of the data and the superuser's password. `startPostgres` creates a missing folder. */
  dataDir: string;
  /**
   * Whether commits survive a crash. With false, a crash can lose the commits of the last second,
   * and PostgreSQL stores passwords with a weak hash. Tests set false, because it is faster.
   */
  durable: boolean;
  /** Additional server settings, as `name=value`. */
  settings?: readonly string[];
  /** Cancels a start that is in progress; the start then throws. */
  signal?: AbortSignal;
  log: LogLine;
}

export interface Postgres {
  readonly port: number;
  /** For example "18.4". */
  readonly version: string;
  /** URL of the database `postgres` with the superuser's password. Never log it. */
  readonly superuserUrl: string;
  /** Disconnects clients and shuts down cleanly. Idempotent. */
  stop(): Promise<void>;
  /** Ends the server as in a crash. The next start recovers from the write-ahead log. */
  kill(): Promise<void>;
  /** Starts the server again on the same port after `stop` or `kill`. */
  start(): Promise<void>;
}

const host = "127.0.0.1";
const connectionsMax = 200;
/** Maximum time until the server is ready, including the recovery after a crash. */
const readyTimeoutMs = 60_000;
/** SQLSTATE invalid_password. */
const wrongPassword = "28P01";

/** With one iteration in place of 4 096, a client needs 0.7 ms less CPU time to authenticate. */
const weakPasswords = "scram_iterations=1";
const forTests = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", weakPasswords];

/**
 * Starts PostgreSQL 18 on the loopback address and resolves when it accepts connections. The
 * programs come from npm, so no installation is needed. First stops a server that a killed run left
 * on the folder. Throws DevEnvError if the server cannot start.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { durable, log, signal } = options;
  const programs = postgresPrograms();
  const user = await systemUser();
  const path = resolve(options.dataDir);
  await mkdir(dirname(path), { recursive: true });
  const dataDir = join(await realpath(dirname(path)), basename(path));
  const launch = await launcher(user, [programs.postgres, dataDir]);

  await stopLeftoverPostmaster(dataDir, log);
  const port = await freePort();
  const password = await prepareDataFolder(dataDir, programs, { user, launch, durable, signal });
  signal?.throwIfAborted();
  const superuserUrl = `postgres://${superuser}:${password}@${host}:${port}/postgres`;

  const settings = [
    ownerSetting,
    `listen_addresses=${host}`,
    "unix_socket_directories=",
    `max_connections=${connectionsMax}`,
    "timezone=UTC",
    "log_timezone=UTC",
    ...(durable ? [] : forTests),
    ...(options.settings ?? []),
  ];

  const run = async (): Promise<{ server: ServerProcess; version: string }> => {
    const server = await spawnServer({
      ...launch(programs.postgres, ["-D", dataDir, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])]),
      cwd: "/",
      env: postgresEnv(),
      stopSteps: postgresStopSteps,
      orphanSignal: "SIGINT",
      log,
    });
    try {
      await untilReady(server, dataDir, port, signal);
      return { server, version: await serverVersion(superuserUrl, dataDir) };
    } catch (error) {
      await server.stop();
      throw error;
    }
  };

  let { server, version } = await run();

  return {
    port,
    version,
    superuserUrl,
    stop: () => server.stop(),
    kill: () => server.kill(),
    async start() {
      if (!server.isRunning()) ({ server, version } = await run());
    },
  };
}

/** Waits until the pid file contains "ready", as pg_ctl does. */
async function untilReady(server: ServerProcess, dataDir: string, port: number, signal?: AbortSignal): Promise<void> {
  const isReady = async () => {
    signal?.throwIfAborted();
    if (!server.isRunning()) throw startFailure(server.recentOutput(), dataDir, port);
    const lines = (await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return Number(lines[0]) === server.pid && lines[7]?.trim() === "ready";
  };
  if (await waitUntil(isReady, readyTimeoutMs)) return;
  throw new DevEnvError(
    `PostgreSQL on ${dataDir} was not ready after ${readyTimeoutMs / 1000} s. Its last output:\n${server.recentOutput()}`,
    "Try again when the machine is less busy.",
  );
}

function startFailure(output: string, dataDir: string, port: number): DevEnvError {
  if (/Address already in use|could not create any TCP\/IP sockets/.test(output)) {
    return new DevEnvError(
      `Port ${port} for PostgreSQL is used by another program.`,
      "Try again: the next start chooses another port.",
    );
  }
  if (/lock file "postmaster.pid" already exists|shared memory block .* is still in use/.test(output)) {
    return new DevEnvError(
      `Another PostgreSQL, not started by this program, uses ${dataDir}:\n${output}`,
      "Stop that PostgreSQL first. The first line of postmaster.pid in that folder is its process id.",
    );
  }
  if (/has wrong ownership/.test(output)) {
    return new DevEnvError(
      `${dataDir} belongs to another user than the user that runs PostgreSQL.`,
      "Run the command as the user who created the folder.",
    );
  }
  return new DevEnvError(
    `PostgreSQL does not start on ${dataDir}; the folder may be damaged. Its output:\n${output}`,
    removalAdvice(dataDir),
  );
}

async function serverVersion(superuserUrl: string, dataDir: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
    return rows[0]?.server_version ?? "";
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    throw new DevEnvError(
      `PostgreSQL on ${dataDir} runs, but its superuser cannot connect: ${message}`,
      code === wrongPassword
        ? "If the password was changed, write the new password to the file superuser-password in that folder."
        : "Try again when the machine is less busy. The data is unchanged.",
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
