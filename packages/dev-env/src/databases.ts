import { Client } from "pg";
import { DevEnvError } from "./dev-env-error.ts";

export interface Databases {
  /** Connection URL of each service with its runtime role, which can only read and write rows. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * Connection URL of each service with the role that owns the database and runs the migrations.
   */
  readonly ownerUrls: Readonly<Record<string, string>>;
  /** System identifier of the PostgreSQL data folder, independent of its path and port. */
  readonly clusterId: string;
}

/** Settings that keep statements and rows out of the server log. Only a superuser can set them. */
const quietLog = ["log_error_verbosity = terse", "log_min_error_statement = panic", "log_parameter_max_length = 0"];

/**
 * Creates the missing databases and roles of the services and returns their URLs. A role can
 * connect only to its own database. deploy/postgres/create-databases.sh does the same for a
 * deployment. Throws DevEnvError if a statement fails.
 */
export async function ensureDatabases(superuserUrl: string, names: readonly string[], password: string): Promise<Databases> {
  const client = new Client({ connectionString: superuserUrl, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const urls: Record<string, string> = {};
    const ownerUrls: Record<string, string> = {};
    for (const name of names) {
      const role = `amana_${name}`;
      const owner = `${role}_owner`;
      for (const roleName of [owner, role]) {
        const existing = await client.query("select 1 from pg_roles where rolname = $1", [roleName]);
        // The names are constants and the password is hexadecimal, so no escaping is needed.
        await client.query(`${existing.rowCount ? "alter" : "create"} role ${roleName} login password '${password}'`);
        for (const setting of quietLog) await client.query(`alter role ${roleName} set ${setting}`).catch(ignoreMissingPrivilege);
      }
      urls[name] = addressOf(superuserUrl, role, password, role);
      ownerUrls[name] = addressOf(superuserUrl, owner, password, role);
      const exists = await client.query("select 1 from pg_database where datname = $1", [role]);
      if (!exists.rowCount) await client.query(`create database ${role} owner ${owner}`);
      await client.query(`revoke connect, temporary on database ${role} from public`);
      await client.query(`grant connect on database ${role} to ${role}`);
      await grantRowAccess(ownerUrls[name], role);
    }
    const { rows } = await client.query<{ id: string }>("select system_identifier::text as id from pg_control_system()");
    return { urls, ownerUrls, clusterId: rows[0]?.id ?? "" };
  } catch (error) {
    throw new DevEnvError(
      `The databases could not be prepared: ${(error as Error).message}`,
      "If DATABASE_URL is set, it must address a PostgreSQL 18 server, with a role that can create roles and databases.",
      { cause: error },
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** Grants the role access to rows of all tables that the owner creates later. */
async function grantRowAccess(ownerUrl: string, role: string): Promise<void> {
  const owner = new Client({ connectionString: ownerUrl, connectionTimeoutMillis: 5_000 });
  await owner.connect();
  try {
    await owner.query(`alter default privileges in schema public grant select, insert, update, delete on tables to ${role}`);
    await owner.query(`alter default privileges in schema public grant usage on sequences to ${role}`);
  } finally {
    await owner.end();
  }
}

function addressOf(serverUrl: string, role: string, password: string, database: string): string {
  const url = new URL(serverUrl);
  url.username = role;
  url.password = password;
  url.pathname = `/${database}`;
  return url.toString();
}

/**
 * Ignores SQLSTATE 42501 (insufficient privilege). Only a superuser can change these log settings.
 * If the user of the connection is no superuser, the owner of the server must change the settings.
 */
function ignoreMissingPrivilege(error: { code?: string }): void {
  if (error.code !== "42501") throw error;
}
