import type { Configuration } from "@mikro-orm/core";
import {
  isRaw,
  NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlDriver,
  type PostgreSqlPlatform,
} from "@mikro-orm/postgresql";
import { CompiledQuery } from "kysely";

type Execute = PostgreSqlConnection["execute"];

/**
 * Sends texts, dates, bytes and JSON as parameters. MikroORM 7 writes all values into statements as
 * literals, without an option to change this (mikro-orm/mikro-orm issue 8001, open). Personal data
 * would then be in pg_stat_activity, and in PostgreSQL's log of failed or slow statements. Numbers
 * and booleans stay literals, because PostgreSQL cannot always infer the type of a parameter.
 */
class BindingConnection extends PostgreSqlConnection {
  override execute: Execute = async (query, params = [], method = "all", ctx, loggerContext) => {
    await this.ensureConnection();
    const { sql, values } = bind(this.platform as PostgreSqlPlatform, query, params);
    const run = async () => {
      const result = await (ctx ?? this.getClient()).executeQuery(CompiledQuery.raw(sql, values));
      return this.transformRawResult(result, method);
    };
    return (await this.executeQuery(sql, run, { ...loggerContext })) as never;
  };
}

/** MikroORM's PostgreSQL driver with values as bound parameters instead of literals. */
export class BindingDriver extends PostgreSqlDriver {
  protected override readonly connection: BindingConnection;

  constructor(config: Configuration) {
    super(config);
    this.connection = new BindingConnection(config);
    this.connection.setPlatform(this.platform);
  }
}

function bind(platform: PostgreSqlPlatform, query: Parameters<Execute>[0], params: Parameters<Execute>[1]) {
  const statement = query instanceof NativeQueryBuilder ? query.toRaw() : query;
  const [text, givenParams] = isRaw(statement) ? [statement.sql, statement.params] : [statement, params];
  if (!Array.isArray(givenParams)) throw new TypeError("named SQL parameters are not supported; use ? placeholders");
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  // This object inherits from MikroORM's platform, which finds the placeholders. It replaces only
  // `escape`, which converts a value: most values become numbered parameters.
  const binding: PostgreSqlPlatform = Object.create(platform, {
    escape: {
      value(value: unknown): unknown {
        if (Array.isArray(value)) return value.map((item) => binding.escape(item)).join(", ");
        if (typeof value === "string") return parameter(value);
        if (typeof value === "bigint") return parameter(String(value));
        if (value instanceof Date) return parameter(platform.formatDate(value));
        if (ArrayBuffer.isView(value)) return parameter(value);
        return value;
      },
    },
  });
  return { sql: binding.formatQuery(text, givenParams), values };
}
