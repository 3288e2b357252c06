import {
  type ChangeSet,
  ChangeSetType,
  type EntityProperty,
  OptimisticLockError,
  type SqlEntityManager,
} from "@mikro-orm/postgresql";
import { type BindingConnection, type TransactionClient, toParameter } from "./binding-driver.ts";

type Payload = Readonly<Record<string, unknown>>;

/** Order of MikroORM's flush. */
const types = [
  ChangeSetType.DELETE_EARLY,
  ChangeSetType.UPDATE_EARLY,
  ChangeSetType.CREATE,
  ChangeSetType.UPDATE,
  ChangeSetType.DELETE,
];

/**
 * Queues the changes of `em`, so that `client` sends them in one message with the next commit. If a
 * changed row has a version, sends the changes before the commit instead, and throws
 * OptimisticLockError if another transaction has changed the row. Does not read columns that
 * PostgreSQL sets; call `em.flush` to read them. Throws TypeError for an entity with relations or a
 * composite primary key.
 */
export async function deferChanges(em: SqlEntityManager, client: TransactionClient): Promise<void> {
  const unitOfWork = em.getUnitOfWork();
  unitOfWork.computeChangeSets();
  const changeSets = inOrder(unitOfWork.getChangeSets());
  const outdated: object[] = [];
  let hasVersionedRow = false;
  for (const changeSet of changeSets) {
    const { sql, values, isVersioned } = statementOf(changeSet);
    hasVersionedRow ||= isVersioned;
    client.defer({
      text: sql,
      values: values.map(toParameter),
      onComplete: (rowCount) => isVersioned && rowCount === 0 && outdated.push(changeSet.entity),
    });
  }
  if (hasVersionedRow) await (em.getConnection() as BindingConnection).converted(client.sendDeferred());
  if (outdated[0]) throw OptimisticLockError.lockFailed(outdated[0]);
}

/**
 * Returns the change sets in the order of MikroORM's flush, in which all transactions lock rows: by
 * type, then by entity. Deletes have the order in which their entities first occur in the change
 * sets. Other changes have the reverse order.
 */
function inOrder(changeSets: readonly ChangeSet<object>[]): ChangeSet<object>[] {
  const entities = [...new Set(changeSets.map(({ meta }) => meta))];
  const rankOf = ({ type, meta }: ChangeSet<object>) => {
    const index = entities.indexOf(meta);
    const isDelete = type === ChangeSetType.DELETE || type === ChangeSetType.DELETE_EARLY;
    return types.indexOf(type) * entities.length + (isDelete ? index : entities.length - 1 - index);
  };
  return changeSets.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the statement of a change, and sets the version that the row then has. */
function statementOf({ type, entity, meta, payload, originalEntity }: ChangeSet<object>) {
  if (meta.relations.length > 0 || meta.compositePK)
    throw new TypeError(`${meta.className} has relations or a composite primary key`);
  const column = (name: string) => `"${(meta.properties as Record<string, EntityProperty>)[name]?.fieldNames[0]}"`;
  const table = `"${meta.tableName}"`;
  const { versionProperty: version, primaryKeys } = meta;
  const row = entity as Record<string, unknown>;
  const key = String(primaryKeys[0]);
  if (type === ChangeSetType.CREATE) {
    if (version) row[version] = 1;
    const columns: Payload = version ? { ...payload, [version]: 1 } : payload;
    const names = Object.keys(columns).filter((name) => columns[name] !== undefined);
    if (names.length === 0) return { sql: `insert into ${table} default values`, values: [], isVersioned: false };
    const sql = `insert into ${table} (${names.map(column).join(", ")}) values (${names.map((_, i) => `$${i + 1}`).join(", ")})`;
    return { sql, values: names.map((name) => columns[name]), isVersioned: false };
  }
  const where = `where ${column(key)} = $1`;
  const id = (originalEntity as Payload | undefined)?.[key] ?? row[key];
  if (type === ChangeSetType.DELETE || type === ChangeSetType.DELETE_EARLY) {
    return { sql: `delete from ${table} ${where}`, values: [id], isVersioned: false };
  }
  const changes = Object.entries(payload as Payload);
  const assignments = changes.map(([name], i) => `${column(name)} = $${i + 2}`);
  const values = [id, ...changes.map(([, value]) => value)];
  if (!version) return { sql: `update ${table} set ${assignments.join(", ")} ${where}`, values, isVersioned: false };
  const nextVersion = `${column(version)} = ${column(version)} + 1`;
  const sql = `update ${table} set ${[...assignments, nextVersion].join(", ")} ${where} and ${column(version)} = $${values.length + 1}`;
  values.push(row[version]);
  row[version] = Number(row[version]) + 1;
  return { sql, values, isVersioned: true };
}
