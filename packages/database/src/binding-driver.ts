import type { Configuration } from "@mikro-orm/core";
import {
  isRaw,
  NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlDriver,
  type PostgreSqlPlatform,
} from "@mikro-orm/postgresql";
import type { Pool, PoolClient } from "pg";
import type { Parameter, PipelineClient } from "./pipeline-client.ts";

type Execute = PostgreSqlConnection["execute"];
type Context = Parameters<PostgreSqlConnection["commit"]>[0];
type BeginOptions = NonNullable<Parameters<PostgreSqlConnection["begin"]>[0]>;

/** A connection of the pool in a transaction. */
export type TransactionClient = PoolClient & PipelineClient;

/**
 * A transaction, which the ORM passes to the driver as context. When the transaction has ended, the
 * pool gives its connection to other work. A late statement must therefore not reach the
 * connection.
 */
export class Transaction {
  readonly client: TransactionClient;
  hasEnded = false;

  constructor(client: TransactionClient) {
    this.client = client;
  }
}

/**
 * Sends texts, dates, bytes and JSON as parameters. MikroORM 7 writes all values into statements as
 * literals, without an option to change this (mikro-orm/mikro-orm issue 8001, open). Personal data
 * would then be in pg_stat_activity, and in PostgreSQL's log of failed or slow statements. Numbers
 * and booleans stay literals, because PostgreSQL cannot always infer the type of a parameter.
 *
 * Transactions use the pool without Kysely, which awaits each statement of a transaction before the
 * next one, and releases a connection only after a successful commit or rollback
 * (kysely-org/kysely issue 1990, open).
 */
export class BindingConnection extends PostgreSqlConnection {
  override execute: Execute = async (query, params = [], method = "all", ctx) => {
    const statement = bind(this.platform as PostgreSqlPlatform, query, params);
    const transaction = ctx as unknown as Transaction | undefined;
    if (transaction?.hasEnded) throw new Error("the transaction of this statement has already ended");
    const client = transaction?.client ?? (await this.#acquire());
    try {
      // A text with several statements has an array of results.
      const { rows = [], rowCount } = await client.query(statement);
      const result = { affectedRows: rowCount ?? 0, insertId: undefined, row: rows[0], rows };
      return (method === "all" ? rows : method === "get" ? rows[0] : result) as never;
    } finally {
      if (!ctx) client.release();
    }
  };

  override async begin({ ctx, isolationLevel, readOnly }: BeginOptions = {}): Promise<Context> {
    if (ctx) throw new TypeError("a transaction cannot begin within another one");
    const client = await this.#acquire();
    const isolation = isolationLevel ? ` isolation level ${isolationLevel}` : "";
    client.begin(`start transaction${isolation}${readOnly ? " read only" : ""}`);
    return new Transaction(client) as unknown as Context;
  }

  override async commit(ctx: Context): Promise<void> {
    const { client } = endOf(ctx);
    await this.converted(client.commit());
    client.release();
  }

  /** Rolls back a transaction after an error in its work or in its commit. */
  override async rollback(ctx: Context): Promise<void> {
    const { client } = endOf(ctx);
    const error = await client.rollback().then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    client.release(error);
  }

  /**
   * Converts an error of PostgreSQL to the ORM's error, as the driver does for a single statement.
   */
  async converted<T>(sent: Promise<T>): Promise<T> {
    return await sent.catch((error: Error) => {
      throw this.platform.getExceptionConverter().convertException(error);
    });
  }

  /** Also ends the pool, because Kysely ends it only if Kysely was used. */
  override async close(force?: boolean): Promise<void> {
    const pool = this.connected ? await this.#pool() : undefined;
    await super.close(force);
    if (pool && !pool.ending) await pool.end();
  }

  async #pool(): Promise<Pool> {
    return (await this.getNativeClient()) as unknown as Pool;
  }

  async #acquire(): Promise<TransactionClient> {
    return (await (await this.#pool()).connect()) as TransactionClient;
  }
}

/** Ends a transaction before its commit or rollback is sent, so that no statement follows it. */
const endOf = (ctx: Context): Transaction => Object.assign(ctx as unknown as Transaction, { hasEnded: true });

/** MikroORM's PostgreSQL driver with values as bound parameters instead of literals. */
export class BindingDriver extends PostgreSqlDriver {
  protected override readonly connection: BindingConnection;

  constructor(config: Configuration) {
    super(config);
    this.connection = new BindingConnection(config);
    this.connection.setPlatform(this.platform);
  }
}

/** Converts a value to an SQL parameter. */
export function toParameter(value: unknown): Parameter {
  if (value == null) return null;
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function bind(platform: PostgreSqlPlatform, query: Parameters<Execute>[0], params: Parameters<Execute>[1]) {
  const statement = query instanceof NativeQueryBuilder ? query.toRaw() : query;
  const [text, givenParams] = isRaw(statement) ? [statement.sql, statement.params] : [statement, params];
  if (!Array.isArray(givenParams)) throw new TypeError("named SQL parameters are not supported; use ? placeholders");
  const values: Parameter[] = [];
  let hasNumbers = false;
  // This object inherits from MikroORM's platform, which finds the placeholders. The object
  // replaces only `escape`, which converts a value: most values become numbered parameters.
  const binding: PostgreSqlPlatform = Object.create(platform, {
    escape: {
      value(value: unknown): unknown {
        if (Array.isArray(value)) return value.map((item) => binding.escape(item)).join(", ");
        hasNumbers ||= typeof value === "number";
        if (value == null || typeof value === "number" || typeof value === "boolean") return value;
        return `$${values.push(toParameter(value))}`;
      },
    },
  });
  const sql = binding.formatQuery(text, givenParams);
  // Connections do not prepare a statement with an empty name. Each number would need its own
  // prepared statement.
  return { text: sql, values, name: hasNumbers ? "" : undefined };
}
