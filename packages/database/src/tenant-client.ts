import { allTenants, currentTenant, isUuid } from "@amana/runtime";
import pg from "pg";

interface TenantQueryConfig extends pg.QueryConfig {
  /** Business of the statement, or everyTenant. Default: the current tenant. */
  readonly tenant?: string;
  /** Milliseconds after which the driver gives up the statement. */
  readonly query_timeout?: number | undefined;
}

/** The part of pg.Query that is used here; the driver's types omit most of it. */
interface Query extends pg.Submittable {
  query_timeout: number | undefined;
  submit(connection: pg.Connection): Error | null;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleError(error: Error, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}
const Query = pg.Query as unknown as new (config: TenantQueryConfig & { queryMode: "extended" }) => Query;

const setting = "amana.business";
const prepared = "amana_for_tenants";
/** Returns no row, so that its response adds nothing to the result of the statement. */
const setTenant = `select 1 where set_config('${setting}', $1, true) is null`;

/** Start option of a session: without a tenant, its statements see no rows. */
export const noTenantOption = `-c ${setting}=`;

/** The value of the setting: `*`, or an array of ids. */
const settingOf = (tenant: string) => (tenant === allTenants ? allTenants : `{${tenant}}`);

/**
 * A statement outside of transactions, with the setting of its tenant before it in the same
 * message. PostgreSQL runs both in one implicit transaction, so the setting ends with it. Overrides
 * only what the driver calls of a Submittable, its extension point: pg-cursor and pg-query-stream
 * (brianc/node-postgres) are Submittables with these handlers.
 */
class TenantQuery extends Query {
  readonly #tenant: string;
  #isTenantSet = false;
  /** Why the driver did not send the statement. */
  #rejection: Error | null = null;

  constructor(config: TenantQueryConfig, tenant: string) {
    super({ ...config, queryMode: "extended" });
    this.query_timeout = config.query_timeout;
    this.#tenant = tenant;
  }

  override submit(connection: pg.Connection): null {
    connection.stream.cork();
    try {
      connection.bind({ statement: prepared, values: [this.#tenant] }, true);
      connection.execute({}, true);
      this.#rejection = super.submit(connection);
      if (this.#rejection) connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#isTenantSet) super.handleCommandComplete(message, connection);
    this.#isTenantSet = true;
  }

  override handleReadyForQuery(connection: pg.Connection): void {
    if (this.#rejection) this.handleError(this.#rejection, connection);
    else super.handleReadyForQuery(connection);
  }
}

/**
 * A connection that tells PostgreSQL the tenant of each transaction and statement, without an
 * additional round trip: with the `begin` of a transaction, or in the message of any other
 * statement. The setting ends with it, so the next user of the connection does not inherit it.
 */
export class TenantClient extends pg.Client {
  /** Prepares the statement that sets the tenant. For each new connection of a pool. */
  static async prepare(client: pg.ClientBase): Promise<void> {
    const nobody: TenantQueryConfig = { name: prepared, text: setTenant, values: [""], tenant: "" };
    await client.query(nobody);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as overloaded as the driver's
  override query(config: any, values?: any, callback?: any): any {
    const base = super.query.bind(this) as (config: unknown, values?: unknown, callback?: unknown) => unknown;
    const tenant = tenantOf(config);
    if (tenant === undefined || typeof config.submit === "function" || this.#isInTransaction()) {
      return base(config, values, callback);
    }
    const text: string = typeof config === "string" ? config : config.text;
    if (/^(begin|start transaction)\b/.test(text)) return base(`${text}; set local ${setting} = '${settingOf(tenant)}'`);
    const given = typeof config === "string" ? { text, values } : config;
    const done = typeof values === "function" ? values : callback;
    const query = new TenantQuery(given, settingOf(tenant));
    if (done) return base(query, done);
    return new Promise((resolve, reject) => {
      base(query, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // As the driver does: the stack trace of the caller instead of the socket's.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #isInTransaction(): boolean {
    const status = this.getTransactionStatus();
    return status === "T" || status === "E";
  }
}

/** Undefined without a tenant. A tenant that is no id must not get into the text of a statement. */
function tenantOf(config: TenantQueryConfig | string): string | undefined {
  const tenant = (typeof config === "string" ? undefined : config.tenant) ?? currentTenant();
  return tenant !== undefined && (tenant === allTenants || isUuid(tenant)) ? tenant : undefined;
}
