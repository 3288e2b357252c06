/** A text gets a name with this use, so that texts which occur only once stay without. */
const usesMin = 5;
/**
 * Maximum number of names. Each connection keeps the plan of each named statement, about 20 KB for
 * a table with many indexes.
 */
const namesMax = 200;
/** Maximum number of texts whose uses are counted, because a text can contain numbers. */
const countedMax = 1_000;

/**
 * A result that contains all columns of a table changes when a migration adds a column. PostgreSQL
 * then refuses the prepared statement.
 */
const allColumns = /(?:\bselect|\breturning|,)\s+\*|\.\*/;

const names = new Map<string, string>();
const uses = new Map<string, number>();

/**
 * Returns the name with which a connection prepares a frequent statement, so that PostgreSQL parses
 * and plans it once for each connection. Returns undefined for other statements. Drivers of other
 * languages have the same rule (pgjdbc: prepareThreshold 5, Npgsql: Auto Prepare Min Usages 5).
 */
export function statementName(text: string): string | undefined {
  const name = names.get(text);
  if (name !== undefined || names.size === namesMax || allColumns.test(text)) return name;
  const count = (uses.get(text) ?? 0) + 1;
  if (uses.size >= countedMax) uses.clear();
  uses.set(text, count);
  if (count < usesMin) return undefined;
  uses.delete(text);
  const newName = `amana_${names.size + 1}`;
  names.set(text, newName);
  return newName;
}
