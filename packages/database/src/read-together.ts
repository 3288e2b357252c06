import { currentTenant, everyTenant, isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedQuery } from "./named-query.ts";
import { statementMsMax } from "./orm.ts";

/** Of statements under way at once; a slow one holds up only what waits behind all of them. */
const statementsMax = 4;
const rowsMax = 100;
/** A connection that hangs must not keep one of these places: its host may be gone for good. */
const answerMsMax = statementMsMax + 1_000;

type Row = Record<string, unknown>;

interface Asked extends PromiseWithResolvers<Row | undefined> {
  readonly key: readonly string[];
  /** For whom. */
  readonly tenant: string | undefined;
}

/**
 * Reads single rows by a key of uuids; what is none names nothing. Those that are asked for in the
 * same turn of the event loop are read by one statement, which costs a quarter of as many single
 * ones. What was committed before a row was asked for is seen. `select` ends in a condition;
 * `columns` are those of the key, of which `id` is unique. One statement may be for several
 * tenants: it gives each only its own rows, and the database lets it have no others'.
 */
export function readTogether(name: string, select: string, columns: readonly string[]) {
  // By the id alone: knowing nothing of a table, the planner takes any index that begins with a
  // business, and walks over all that it has.
  const condition = (column: string, value: string) => (column === "id" ? `id = ${value}` : `(${column} = ${value}) is true`);
  const matching = (placeOf: (i: number) => string) =>
    [select, ...columns.map((column, i) => condition(column, placeOf(i)))].join(" and ");
  const single = matching((i) => `$${i + 1}`);
  // Arrays behind a select: the planner must not see how long they are, or it would plan each time
  // anew. A limit: each row is looked up by an index, whatever the planner thinks of a join.
  // Names with a space: `select` cannot mean one of these when it names a column that is not there.
  const wanted = columns.map((_, i) => `"wanted ${i + 1}"`);
  const isOwned = columns.includes("business_id");
  const arrays = [...wanted, ...(isOwned ? [`"asked for"`] : [])];
  const several = `select asked."asked place", found.*
    from unnest(${arrays.map((_, i) => `(select $${i + 1}::uuid[])`).join(", ")})
      with ordinality as asked (${arrays.join(", ")}, "asked place"),
      lateral (${matching((i) => `asked.${wanted[i]}`)}${isOwned ? ` and (asked."asked for" is null or asked."asked for" = business_id)` : ""} limit 1) as found`;

  const read = async (em: SqlEntityManager, group: readonly Asked[]) => {
    const [first] = group;
    if (first && group.length === 1) {
      const [row] = await namedQuery<Row>(em, name, single, [...first.key], { answerMsMax, tenants: tenantsOf(group) });
      return first.resolve(row);
    }
    const values = columns.map((_, i) => group.map(({ key }) => key[i]));
    if (isOwned) values.push(group.map(({ tenant }) => (tenant === everyTenant ? undefined : tenant)));
    const rows = await namedQuery<Row>(em, `${name}_several`, several, values, { answerMsMax, tenants: tenantsOf(group) });
    for (const { "asked place": place, ...row } of rows) group[Number(place) - 1]?.resolve(row);
    for (const { resolve } of group) resolve(undefined);
  };
  const queues = new WeakMap<object, (asked: Asked) => void>();

  return async (em: SqlEntityManager, ...key: string[]): Promise<Row | undefined> => {
    // One that the database refused would be refused for all that are read with it.
    if (!key.every(isUuid)) return undefined;
    const connection = em.getConnection();
    let ask = queues.get(connection);
    if (!ask) {
      ask = byTurns((group) => read(em, group), isOwned);
      queues.set(connection, ask);
    }
    const asked = { key, tenant: currentTenant(), ...Promise.withResolvers<Row | undefined>() };
    ask(asked);
    return await asked.promise;
  };
}

const tenantsOf = (group: readonly Asked[]) => [...new Set(group.flatMap(({ tenant }) => tenant ?? []))];

/**
 * Collects what comes in a turn of the event loop, and longer while enough is under way. A group
 * is of one tenant, or of several where the statement tells them apart (`isOwned`).
 */
function byTurns(read: (group: readonly Asked[]) => Promise<void>, isOwned: boolean) {
  const waiting: Asked[] = [];
  let underWay = 0;

  const readGroup = async (group: readonly Asked[]) => {
    underWay++;
    await read(group).catch((error: unknown) => {
      for (const { reject } of group) reject(error);
    });
    underWay--;
    readOn();
  };
  const groupSize = () => {
    const goesAlong = ({ tenant }: Asked) =>
      tenant === waiting[0]?.tenant ||
      (isOwned && [tenant, waiting[0]?.tenant].every((one) => one !== undefined && one !== everyTenant));
    const end = waiting.findIndex((asked) => !goesAlong(asked));
    return Math.min(rowsMax, end < 0 ? waiting.length : end);
  };
  const readOn = () => {
    while (waiting.length > 0 && underWay < statementsMax) void readGroup(waiting.splice(0, groupSize()));
  };
  return (asked: Asked) => {
    if (waiting.push(asked) === 1) setImmediate(readOn);
  };
}
