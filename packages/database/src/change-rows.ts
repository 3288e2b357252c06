import { type EntityClass, IsolationLevel, OptimisticLockError, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Orm } from "./orm.ts";
import { transaction } from "./transaction.ts";

/** An entity with a version property, which the ORM compares at commit. */
interface Row {
  readonly id: string;
}

const attemptsMax = 5;

/**
 * Runs `work` in a transaction on rows that the caller read earlier. Neither locks these rows nor
 * reads them again. If another transaction has changed a row in the meantime, the row's version
 * differs and the commit fails. `changeRows` then reads the current rows and runs `work` again.
 * `work` changes copies of the rows. It can run several times, so it must have no effects outside
 * of the transaction.
 */
export async function changeRows<Rows extends Readonly<Record<string, Row>>, T>(
  orm: Orm,
  rows: Rows,
  work: (em: SqlEntityManager, rows: Rows) => Promise<T>,
): Promise<T> {
  let present = rows;
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction(orm, (em) =>
        work(
          em,
          mapRows(present, (row) => em.merge(entityOf(row), { ...row })),
        ),
      );
    } catch (error) {
      if (!(error instanceof OptimisticLockError) || attempt === attemptsMax) throw error;
      // Reads all rows in one snapshot, because `work` may compare them.
      const found = await orm.em.fork().transactional(
        async (em) => {
          const read: Row[] = [];
          for (const row of Object.values(rows)) read.push(await em.findOneOrFail(entityOf(row), { id: row.id }));
          return read;
        },
        { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
      );
      const byId = new Map(found.map((row) => [row.id, row]));
      present = mapRows(rows, ({ id }) => byId.get(id) as Row);
    }
  }
}

const entityOf = (row: Row) => row.constructor as EntityClass<Row>;

const mapRows = <Rows extends Readonly<Record<string, Row>>>(rows: Rows, map: (row: Row) => Row): Rows =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, map(row)])) as Rows;
