import { currentOperation } from "@amana/runtime";
import pg from "pg";
import { countStatements } from "./statement-metrics.ts";
import { StatementNames } from "./statement-names.ts";

/** A value that a statement sends apart from its text. */
export type Parameter = string | Buffer | null;

/** A statement whose result rows the caller does not need. */
export interface DeferredStatement {
  readonly text: string;
  /**
   * Name of the prepared statement. Default: the text's name if the text is frequent and has
   * parameters.
   */
  readonly name?: string;
  readonly values?: readonly Parameter[];
  /** Called with the number of changed rows. Must not throw. */
  readonly onComplete?: (rowCount: number) => void;
}

interface QueryConfig extends pg.QueryConfig {
  /** Milliseconds after which the driver stops waiting for the statement. */
  readonly query_timeout?: number;
  /** Prepares the statement at its first use. Default: false. */
  readonly isPrepared?: boolean;
}

/** The part of pg.Connection that this file uses and the driver's types omit. */
interface Connection extends pg.Connection {
  /**
   * Text of each prepared statement, by name. Includes statements that the connection has sent and
   * PostgreSQL has not yet prepared.
   */
  readonly parsedStatements: Record<string, string | undefined>;
}

/** The part of pg.Query that this file uses. The driver's types omit most of this class. */
interface Query extends pg.Submittable {
  query_timeout: number | undefined;
  readonly name: string | undefined;
  readonly text: string;
  submit(connection: pg.Connection): Error | null;
  handleCommandComplete(message: { text: string }, connection: pg.Connection): void;
  handleError(error: Error, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}
const Query = pg.Query as unknown as new (config: QueryConfig & { queryMode: "extended" }) => Query;

/**
 * A statement with the deferred statements before it, in one message. After an error, PostgreSQL
 * skips the rest of the message, so the error is that of the first statement that failed. The class
 * overrides only methods of a Submittable, the driver's extension point. pg-cursor and
 * pg-query-stream (brianc/node-postgres) use the same methods.
 */
class Pipeline extends Query {
  readonly #deferred: readonly DeferredStatement[];
  #completed = 0;
  /** The driver's error if the driver did not send the last statement; otherwise null. */
  #rejection: Error | null = null;

  constructor(config: QueryConfig, deferred: readonly DeferredStatement[]) {
    super({ ...config, queryMode: "extended" });
    this.query_timeout = config.query_timeout;
    this.#deferred = deferred;
  }

  override submit(connection: Connection): null {
    connection.stream.cork();
    try {
      for (const { name = "", text, values } of this.#deferred) {
        if (name !== "") closeOldStatement(connection, name, text);
        if (connection.parsedStatements[name] !== text) connection.parse({ name, text, types: [] }, true);
        if (name !== "") connection.parsedStatements[name] = text;
        connection.bind({ statement: name, values: values as string[] }, true);
        connection.execute({}, true);
      }
      if (this.name) closeOldStatement(connection, this.name, this.text);
      this.#rejection = super.submit(connection);
      if (this.#rejection) connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  override handleCommandComplete(message: { text: string }, connection: pg.Connection): void {
    const deferred = this.#deferred[this.#completed++];
    if (deferred) deferred.onComplete?.(rowCountOf(message.text));
    else super.handleCommandComplete(message, connection);
  }

  /**
   * Removes the statements of the message from `parsedStatements`, so that the connection prepares
   * them again at their next use. PostgreSQL has not prepared the statements that it skipped. It
   * rejects a prepared statement after a migration that changed the columns of its result.
   */
  override handleError(error: Error, connection: Connection): void {
    for (const { name } of [...this.#deferred, this]) delete connection.parsedStatements[name ?? ""];
    super.handleError(error, connection);
  }

  override handleReadyForQuery(connection: Connection): void {
    if (this.#rejection) this.handleError(this.#rejection, connection);
    else super.handleReadyForQuery(connection);
  }
}

/**
 * Closes the statement with this name unless it has this text. After an error, PostgreSQL may still
 * have a statement that `parsedStatements` does not contain, and would reject a second statement
 * with its name. PostgreSQL ignores a close of a statement that does not exist.
 */
function closeOldStatement(connection: Connection, name: string, text: string): void {
  if (connection.parsedStatements[name] === text) return;
  connection.close({ type: "S", name }, true);
  delete connection.parsedStatements[name];
}

/** Returns the number of rows in a command tag such as "UPDATE 1" or "INSERT 0 1"; otherwise 0. */
const rowCountOf = (tag: string): number => Number(tag.slice(tag.lastIndexOf(" ") + 1)) || 0;

/**
 * A connection that sends several statements in one message. It sends `begin` with the first
 * statement of a transaction, and the changes of the transaction with `commit`. Fewer messages save
 * time, because each message costs a write, a wake-up of both processes and a wait.
 */
export class PipelineClient extends pg.Client {
  #deferred: DeferredStatement[] = [];
  #transaction: "none" | "deferred" | "begun" = "none";
  readonly #names: StatementNames;

  /** `names` are the names of the client's pool. */
  constructor(config: pg.ClientConfig, names = new StatementNames()) {
    super(config);
    this.#names = names;
  }

  /**
   * Queues a statement, which is sent in one message with the next statement. If the queued
   * statement fails, the promise of the next statement rejects with the error.
   */
  defer(statement: DeferredStatement): void {
    this.#deferred.push({ name: this.#nameOf(statement), ...statement });
  }

  /** Sends the deferred statements. */
  async sendDeferred(): Promise<void> {
    const lastStatement = this.#deferred.pop();
    if (!lastStatement) return;
    // `defer` has counted this use. The empty name prevents that `query` counts it again.
    const { text, name = "", values } = lastStatement;
    lastStatement.onComplete?.((await this.query({ text, name, values })).rowCount ?? 0);
  }

  /** Begins a transaction with the next statement. */
  begin(text: string): void {
    this.#transaction = "deferred";
    this.defer({ text });
  }

  /**
   * Throws if PostgreSQL did not commit. If an earlier statement failed and the caller caught the
   * error, PostgreSQL responds to `commit` with a successful ROLLBACK.
   */
  async commit(): Promise<void> {
    const { command } = await this.query("commit");
    this.#transaction = "none";
    if (command !== "COMMIT") throw new Error(`the transaction has ended with ${command}, because a statement failed`);
  }

  async rollback(): Promise<void> {
    this.#deferred = [];
    const isBegun = this.#transaction === "begun";
    if (isBegun) await this.query("rollback");
    this.#transaction = "none";
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has the same overloads
  override query(config: any, values?: any, callback?: any): any {
    const baseQuery = super.query.bind(this) as (config: unknown, values?: unknown, callback?: unknown) => unknown;
    const deferred = this.#deferred;
    countStatements(currentOperation(), deferred.length + 1);
    if (typeof config.submit === "function") return baseQuery(config, values, callback);
    const statement: QueryConfig = typeof config === "string" ? { text: config, values } : config;
    const name = this.#nameOf(statement);
    if (deferred.length === 0 && !name) return baseQuery(config, values, callback);
    this.#deferred = [];
    if (this.#transaction === "deferred") this.#transaction = "begun";
    const onDone = typeof values === "function" ? values : callback;
    const query = new Pipeline({ ...statement, name }, deferred);
    if (onDone) return baseQuery(query, onDone);
    return new Promise((resolve, reject) => {
      baseQuery(query, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // The driver does the same, so that the stack trace shows the caller.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  /**
   * Returns the given name, the name of a statement with `isPrepared`, or the name of a frequent
   * statement with parameters; otherwise undefined. Most statements without parameters, for example
   * `commit`, need no plan.
   */
  #nameOf({
    name,
    text,
    values,
    isPrepared,
  }: Pick<QueryConfig, "name" | "text" | "isPrepared"> & { values?: readonly unknown[] }) {
    if (name !== undefined) return name;
    if (isPrepared) return this.#names.of(text);
    return Array.isArray(values) && values.length > 0 ? this.#names.ofFrequent(text) : undefined;
  }

  protected isInTransaction(): boolean {
    const status = this.getTransactionStatus();
    return this.#transaction !== "none" || status === "T" || status === "E";
  }
}
