import { Client } from "pg";
import { DevEnvError } from "./dev-env-error.ts";

export interface Databases {
  /** By service. */
  readonly urls: Readonly<Record<string, string>>;
  /** Tells one PostgreSQL data folder from another, wherever it is and whichever port it has. */
  readonly clusterId: string;
}

/**
 * Makes sure that each service has a database and a role of its own, and answers their addresses. A role sees its own
 * database only.
 */
export async function ensureDatabases(superuserUrl: string, names: readonly string[], password: string): Promise<Databases> {
  const client = new Client({ connectionString: superuserUrl, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const urls: Record<string, string> = {};
    for (const name of names) {
      const role = `amana_${name}`;
      const known = await client.query("select 1 from pg_roles where rolname = $1", [role]);
      // Identifiers come from our own table of services, the password is hexadecimal: nothing to escape.
      await client.query(`${known.rowCount ? "alter" : "create"} role ${role} login password '${password}'`);
      const exists = await client.query("select 1 from pg_database where datname = $1", [role]);
      if (!exists.rowCount) await client.query(`create database ${role} owner ${role}`);
      await client.query(`revoke connect, temporary on database ${role} from public`);
      const url = new URL(superuserUrl);
      url.username = role;
      url.password = password;
      url.pathname = `/${role}`;
      urls[name] = url.toString();
    }
    const { rows } = await client.query<{ id: string }>("select system_identifier::text as id from pg_control_system()");
    return { urls, clusterId: rows[0]?.id ?? "" };
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
