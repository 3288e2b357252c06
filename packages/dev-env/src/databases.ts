import { Client } from "pg";
import { DevEnvError } from "./dev-env-error.ts";

export interface Databases {
  /** By service: of the role that it runs as, which reads and writes rows and nothing else. */
  readonly urls: Readonly<Record<string, string>>;
  /** By service: of the role that owns the database, which its migrations run as. */
  readonly ownerUrls: Readonly<Record<string, string>>;
  /** Tells one PostgreSQL data folder from another, wherever it is and whichever port it has. */
  readonly clusterId: string;
}

/** Statements and rows stay out of the server's own log. Only a superuser may say so. */
const quietLog = ["log_error_verbosity = terse", "log_min_error_statement = panic", "log_parameter_max_length = 0"];

/**
 * Makes sure that each service has a database and two roles of its own, and answers their
 * addresses. A role sees its own database only; what deploy/postgres/create-databases.sh does for a
 * deployment.
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
      for (const each of [owner, role]) {
        const known = await client.query("select 1 from pg_roles where rolname = $1", [each]);
        // Names are our own and the password is hexadecimal: nothing to escape.
        await client.query(`${known.rowCount ? "alter" : "create"} role ${each} login password '${password}'`);
        for (const setting of quietLog) await client.query(`alter role ${each} set ${setting}`).catch(unlessForbidden);
      }
      urls[name] = addressOf(superuserUrl, role, password, role);
      ownerUrls[name] = addressOf(superuserUrl, owner, password, role);
      const exists = await client.query("select 1 from pg_database where datname = $1", [role]);
      if (!exists.rowCount) await client.query(`create database ${role} owner ${owner}`);
      await client.query(`revoke connect, temporary on database ${role} from public`);
      await client.query(`grant connect on database ${role} to ${role}`);
      await allowRows(ownerUrls[name], role);
    }
    const { rows } = await client.query<{ id: string }>("select system_identifier::text as id from pg_control_system()");
    return { urls, ownerUrls, clusterId: rows[0]?.id ?? "" };
  } catch (error) {
    throw new DevEnvError(
      `The databases could not be prepared: ${(error as Error).message}`,
      "If DATABASE_URL is set, it must name a PostgreSQL 18 and a role that may create roles and databases.",
      { cause: error },
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whatever tables the owner makes from now on, the service may read and write their rows. */
async function allowRows(ownerUrl: string, role: string): Promise<void> {
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

/** Who brings a server and no superuser looks after its log. */
function unlessForbidden(error: { code?: string }): void {
  if (error.code !== "42501") throw error;
}
