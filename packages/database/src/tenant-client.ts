import { currentTenant, everyTenant, isUuid } from "@amana/runtime";
import pg from "pg";

/** What the driver's connection understands; its types leave it out. */
interface Wire {
  bind(config: { statement: string; values: string[] }): void;
  execute(config: object): void;
}
interface SomeQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly tenants?: readonly string[];
  readonly query_timeout?: number | undefined;
}

const setting = "amana.business";
const prepared = "amana_for_tenants";
/** Answers no row, so that nothing of its answer is taken for the statement's. */
const setTenants = `select 1 where set_config('${setting}', $1, true) is null`;

/** Whose rows a session shows that says nothing more: nobody's. */
export const forNobody = `-c ${setting}=`;

/** As PostgreSQL reads it: `*`, or an array of ids. */
const settingOf = (tenants: readonly string[]) => (tenants.includes(everyTenant) ? everyTenant : `{${tenants.join()}}`);

/** A statement outside of transactions. For whom it is goes before it, in the same message. */
class TenantQuery extends pg.Query {
  readonly #tenants: string;
  #isSet = false;
  readonly query_timeout: number | undefined;

  constructor(config: SomeQuery & { queryMode: "extended" }, tenants: string) {
    super(config as never);
    this.#tenants = tenants;
    this.query_timeout = config.query_timeout;
  }

  prepare(connection: Wire): void {
    connection.bind({ statement: prepared, values: [this.#tenants] });
    connection.execute({});
    // biome-ignore lint/suspicious/noExplicitAny: the driver's types name no such method
    (pg.Query.prototype as any).prepare.call(this, connection);
  }

  handleCommandComplete(message: unknown, connection: unknown): void {
    if (!this.#isSet) this.#isSet = true;
    // biome-ignore lint/suspicious/noExplicitAny: the driver's types name no such method
    else (pg.Query.prototype as any).handleCommandComplete.call(this, message, connection);
  }
}

/**
 * A connection that tells PostgreSQL for whom it works, without a round trip more: a transaction
 * with its `begin`, any other statement in the same message. It holds for the transaction or the
 * statement alone, so nothing of it is left for whoever has the connection next.
 */
export class TenantClient extends pg.Client {
  /** Once, when the pool has made it. */
  static async prepare(client: pg.ClientBase): Promise<void> {
    const nobody: SomeQuery = { name: prepared, text: setTenants, values: [""], tenants: [] };
    await client.query(nobody as pg.QueryConfig);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as overloaded as the driver's
  override query(config: any, values?: any, callback?: any): any {
    const base = super.query.bind(this) as (config: unknown, values?: unknown, callback?: unknown) => unknown;
    const tenants = tenantsOf(config);
    if (tenants.length === 0 || typeof config.submit === "function" || this.#isInTransaction()) {
      return base(config, values, callback);
    }
    const text: string = typeof config === "string" ? config : config.text;
    if (/^(begin|start transaction)\b/.test(text)) return base(`${text}; set local ${setting} = '${settingOf(tenants)}'`);
    const given = typeof config === "string" ? { text, values } : config;
    const done = typeof values === "function" ? values : callback;
    const query = new TenantQuery({ ...given, queryMode: "extended" }, settingOf(tenants));
    if (done) return base(query, done);
    return new Promise((resolve, reject) => {
      base(query, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // As the driver does: the trace of whoever asked, not that of the socket.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #isInTransaction(): boolean {
    const status = (this as unknown as { getTransactionStatus(): string | null }).getTransactionStatus();
    return status === "T" || status === "E";
  }
}

function tenantsOf(config: SomeQuery): readonly string[] {
  const tenant = currentTenant();
  const tenants = config.tenants ?? (tenant === undefined ? [] : [tenant]);
  // What is no id is nobody's, and must not stand in a statement's text.
  return tenants.filter((one) => one === everyTenant || isUuid(one));
}
