import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DevEnvError } from "../src/dev-env-error.ts";
import { postgresPrograms } from "../src/postgres/postgres-programs.ts";
import { launcher } from "../src/postgres/system-user.ts";
import { type Postgres, startPostgres } from "../src/postgres.ts";
import { readProcess } from "../src/running-process.ts";

const isRoot = process.getuid?.() === 0;

let folder: string;
let dataDir: string;
const started: Postgres[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "amana-postgres-"));
  // If root runs the test, PostgreSQL runs as another user, which must be able to enter the folder.
  await chmod(folder, 0o755);
  dataDir = join(folder, "postgres");
});

afterEach(async () => {
  for (const postgres of started.splice(0)) await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startTestPostgres(options: { durable?: boolean } = {}): Promise<Postgres> {
  const postgres = await startPostgres({ dataDir, durable: false, log: () => {}, ...options });
  started.push(postgres);
  return postgres;
}

async function query<T>(postgres: Pick<Postgres, "superuserUrl">, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: postgres.superuserUrl, query_timeout: 10_000 });
  // A kill of the server closes connections, which must not fail the test.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

async function failureOf(start: Promise<unknown>): Promise<DevEnvError> {
  const error = await start.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DevEnvError);
  return error as DevEnvError;
}

/** Starts PostgreSQL in another process, kills that process, and returns the id of the server. */
async function leavePostgresRunning(): Promise<number> {
  const script = `
import { startPostgres } from ${JSON.stringify(new URL("../src/postgres.ts", import.meta.url).href)};
    import { guardPid } from ${JSON.stringify(new URL("../src/end-with-parent.ts", import.meta.url).href)};
    const postgres = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, durable: false, log: () => {} });
    process.stdout.write(JSON.stringify([postgres.superuserUrl, guardPid()]));`;
  const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
  const [output] = await once(starter.stdout.setEncoding("utf8"), "data");
  const [superuserUrl, guard] = JSON.parse(output) as [string, number];
  await query({ superuserUrl }, "CREATE TABLE kept AS SELECT 42 AS answer");
  process.kill(guard, "SIGKILL");
  starter.kill("SIGKILL");
  await once(starter, "exit");
  return Number((await readFile(join(dataDir, "postmaster.pid"), "utf8")).split("\n")[0]);
}

test("startPostgres starts a PostgreSQL 18 server with encoding UTF8 and time zone UTC, which listens only on the loopback address", async () => {
  const postgres = await startTestPostgres();

  expect(postgres.version).toMatch(/^18\./);
  const [row] = await query(
    postgres,
    `SELECT current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS timezone,
            current_setting('listen_addresses') AS addresses, current_setting('max_connections')::int AS connections,
            current_setting('fsync') AS fsync, datlocprovider AS provider, datlocale AS locale
     FROM pg_database WHERE datname = current_database()`,
  );
  expect(row).toEqual({
    encoding: "UTF8",
    timezone: "UTC",
    addresses: "127.0.0.1",
    connections: 200,
    fsync: "off",
    provider: "b",
    locale: "C.UTF-8",
  });
});

test("the server of startPostgres rejects a wrong password, and only the owner can read the password file", async () => {
  const postgres = await startTestPostgres();
  const wrong = postgres.superuserUrl.replace(/:[^:@]+@/, ":wrong@");
  await expect(query({ superuserUrl: wrong }, "SELECT 1")).rejects.toThrow("password authentication failed");
  expect((await stat(join(dataDir, "superuser-password"))).mode & 0o777).toBe(0o600);
});

test("startPostgres starts with the data that was stored before the last stop", async () => {
  const stoppedPostgres = await startTestPostgres();
  await query(stoppedPostgres, "CREATE TABLE kept AS SELECT 42 AS answer");
  await stoppedPostgres.stop();

  const restartedPostgres = await startTestPostgres();
  expect(await query(restartedPostgres, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("startPostgres with `durable` keeps a transaction that was committed directly before the server was killed", async () => {
  const postgres = await startTestPostgres({ durable: true });
  await query(postgres, "CREATE TABLE kept AS SELECT 42 AS answer");
  await postgres.kill();
  await postgres.start();
  expect(await query(postgres, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("startPostgres stops the server that a killed run left, and starts with the data of that server", async () => {
  const orphan = await leavePostgresRunning();
  expect(readProcess(orphan)?.command).toContain(dataDir);

  const postgres = await startTestPostgres();
  expect(readProcess(orphan)?.command ?? "").not.toContain(dataDir);
  expect(await query(postgres, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

test("startPostgres throws, and does not stop the server, if the run that started the server still exists", async () => {
  const runningPostgres = await startTestPostgres();
  const error = await failureOf(startTestPostgres());
  expect(error.problem).toContain(`already running on ${dataDir}`);
  expect(await query(runningPostgres, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
});

test("startPostgres starts even if the process id in the pid file belongs to another program", async () => {
  await (await startTestPostgres()).stop();
  // Runs the process as PostgreSQL's user, because PostgreSQL ignores processes of other users.
  const { uid, gid } = await stat(dataDir);
  const otherProgram = spawn("sleep", ["20"], { stdio: "ignore", timeout: 20_000, ...(isRoot ? { uid, gid } : {}) });
  await once(otherProgram, "spawn");
  await writeFile(join(dataDir, "postmaster.pid"), `${otherProgram.pid}\n${dataDir}\n`);

  const postgres = await startTestPostgres();
  expect(await query(postgres, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(otherProgram.exitCode ?? otherProgram.signalCode).toBeNull();
  otherProgram.kill();
});

test("startPostgres throws an error with PostgreSQL's output and the next step when the data folder is damaged", async () => {
  await (await startTestPostgres()).stop();
  await rm(join(dataDir, "global", "pg_control"));
  const error = await failureOf(startTestPostgres());
  expect(error.problem).toContain("pg_control");
  expect(error.nextStep).toContain(`rm -rf ${dataDir}`);
});

test("startPostgres throws for a data folder of another major version and does not change it", async () => {
  await mkdir(dataDir);
  await writeFile(join(dataDir, "PG_VERSION"), "17\n");
  const error = await failureOf(startTestPostgres());
  expect(error.problem).toContain("was created by PostgreSQL 17");
  expect(error.nextStep).toContain("pg_dumpall");
  expect(await readFile(join(dataDir, "PG_VERSION"), "utf8")).toBe("17\n");
});

test("startPostgres throws for a folder with other files and does not change it", async () => {
  await mkdir(dataDir);
  await writeFile(join(dataDir, "notes.txt"), "notes");
  const error = await failureOf(startTestPostgres());
  expect(error.problem).toContain("not a PostgreSQL data folder");
  expect(await readFile(join(dataDir, "notes.txt"), "utf8")).toBe("notes");
});

test.runIf(isRoot)("startPostgres, when root runs it, starts PostgreSQL in a folder that only root can enter", async () => {
  await chmod(folder, 0o700);
  expect((await startTestPostgres()).version).toMatch(/^18/);
});

test.runIf(isRoot)(
  "`launcher`, if the program setpriv is missing, throws an error that names the folder that only root can enter",
  async () => {
    await chmod(folder, 0o700);
    const path = process.env["PATH"];
    process.env["PATH"] = "/nowhere";
    try {
      await expect(launcher({ uid: 65_534, gid: 65_534 }, [join(folder, "data")])).rejects.toThrow(`chmod o+x ${folder}`);
    } finally {
      process.env["PATH"] = path;
    }
  },
);

test("postgresPrograms throws an error that suggests an alternative if the platform is not supported", () => {
  expect(() => postgresPrograms("win32", "x64")).toThrow(/WSL 2.*DATABASE_URL/);
  expect(() => postgresPrograms("freebsd", "x64")).toThrow("freebsd-x64");
});
