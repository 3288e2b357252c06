import { allTenants, currentOperation, currentTenant, isUuid } from "@amana/runtime";
import pg from "pg";
import { countStatements } from "./statement-metrics.ts";

interface TenantQueryConfig extends pg.QueryConfig {
  /** Business of the statement, or allTenants. Default: the current tenant. */
  readonly tenant?: string;
  /** Timeout of the statement in the driver, in milliseconds. */
  readonly query_timeout?: number | undefined;
}

/** The part of pg.Query that this file uses. The driver's types omit most of this class. */
interface Query extends pg.Submittable {
  query_timeout: number | undefined;
  submit(connection: pg.Connection): Error | null;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleError(error: Error, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}
const Query = pg.Query as unknown as new (config: TenantQueryConfig & { queryMode: "extended" }) => Query;

const setting = "amana.business";
const preparedName = "amana_for_tenants";
/** Sets the tenant. Returns no row, so that the result of the statement itself does not change. */
const setTenant = `select 1 where set_config('${setting}', $1, true) is null`;

/** Session option that sets no tenant. Statements then return no rows until a tenant is set. */
export const noTenantOption = `-c ${setting}=`;

/** Returns the value of the setting: `*`, or an array of ids. */
const settingOf = (tenant: string) => (tenant === allTenants ? allTenants : `{${tenant}}`);

/**
 * A statement outside of a transaction. It is sent in one message together with a preceding
 * statement that sets the tenant. PostgreSQL runs both statements in one implicit transaction, so
 * the setting applies only to this statement. The class overrides only methods of a Submittable,
 * the driver's extension point. pg-cursor and pg-query-stream (brianc/node-postgres) use the same
 * methods.
 */
class TenantQuery extends Query {
  readonly #tenant: string;
  #isTenantSet = false;
  /** Set if the driver rejected the statement and did not send it. */
  #rejection: Error | null = null;

  constructor(config: TenantQueryConfig, tenant: string) {
    super({ ...config, queryMode: "extended" });
    this.query_timeout = config.query_timeout;
    this.#tenant = tenant;
  }

  override submit(connection: pg.Connection): null {
    connection.stream.cork();
    try {
      connection.bind({ statement: preparedName, values: [this.#tenant] }, true);
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
 * A connection that sets the tenant in PostgreSQL for each transaction, and for each statement
 * outside of a transaction. Setting the tenant needs no additional round trip, because the setting
 * is sent in the same message as `begin` or the statement. The setting ends with the transaction or
 * statement, so that the next user of the connection does not inherit it.
 */
export class TenantClient extends pg.Client {
  /** Prepares the statement that sets the tenant. Call it for each new connection of a pool. */
  static async prepare(client: pg.ClientBase): Promise<void> {
    const withoutTenant: TenantQueryConfig = { name: preparedName, text: setTenant, values: [""], tenant: "" };
    await client.query(withoutTenant);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has the same overloads
  override query(config: any, values?: any, callback?: any): any {
    const baseQuery = super.query.bind(this) as (config: unknown, values?: unknown, callback?: unknown) => unknown;
    const operation = currentOperation();
    const tenant = tenantOf(config);
    if (tenant === undefined || typeof config.submit === "function" || this.#isInTransaction()) {
      countStatements(operation, 1);
      return baseQuery(config, values, callback);
    }
    // The statement that sets the tenant is sent in the same message.
    countStatements(operation, 2);
    const text: string = typeof config === "string" ? config : config.text;
    if (/^(begin|start transaction)\b/.test(text)) return baseQuery(`${text}; set local ${setting} = '${settingOf(tenant)}'`);
    const queryConfig = typeof config === "string" ? { text, values } : config;
    const onDone = typeof values === "function" ? values : callback;
    const query = new TenantQuery(queryConfig, settingOf(tenant));
    if (onDone) return baseQuery(query, onDone);
    return new Promise((resolve, reject) => {
      baseQuery(query, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // Replaces the stack trace by the stack trace of the caller, as the driver does.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #isInTransaction(): boolean {
    const status = this.getTransactionStatus();
    return status === "T" || status === "E";
  }
}

/**
 * Returns the tenant of a statement, or undefined. Ignores a tenant that is not a UUID, because the
 * tenant becomes part of the text of a statement.
 */
function tenantOf(config: TenantQueryConfig | string): string | undefined {
  const tenant = (typeof config === "string" ? undefined : config.tenant) ?? currentTenant();
  return tenant !== undefined && (tenant === allTenants || isUuid(tenant)) ? tenant : undefined;
}
