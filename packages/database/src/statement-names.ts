/** Number of the use at which a text gets a name. Connections do not prepare rarer texts. */
const usesMin = 5;
/**
 * Maximum number of frequent texts with a name. Each connection keeps the plan of each named
 * statement that it has executed. A plan takes 20 to 200 KB.
 */
const frequentMax = 100;
/** Maximum number of names in a pool. */
const namesMax = 1_000;
/**
 * Maximum number of texts with a counter. At this number, all counters are deleted. The number of
 * different texts has no limit, because lists of values have different lengths.
 */
const countedMax = 1_000;

/**
 * Matches statements that return all columns of a table. After a migration that adds a column,
 * PostgreSQL rejects such a prepared statement, because its result has another column.
 */
const allColumns = /\b(?:select|returning|all|distinct)\s*\*|[,.]\s*\*/i;

/** The names of the prepared statements of a pool. The connections of the pool share the names. */
export class StatementNames {
  /** Names by text. */
  readonly #names = new Map<string, string>();
  readonly #uses = new Map<string, number>();
  #frequentCount = 0;

  /**
   * Returns the name with which connections prepare a text. If the pool has `namesMax` names,
   * returns an empty text, and connections do not prepare the statement. PostgreSQL parses a
   * prepared statement once for each connection. It usually keeps one plan from the sixth execution
   * on.
   */
  of(text: string): string {
    const name = this.#names.get(text);
    if (name !== undefined || this.#names.size === namesMax) return name ?? "";
    const newName = `amana_${this.#names.size + 1}`;
    this.#names.set(text, newName);
    return newName;
  }

  /**
   * Counts a use of a text. Returns the text's name if the text is frequent or already has a name;
   * otherwise undefined. Drivers for other languages have the same threshold (pgjdbc:
   * prepareThreshold 5, Npgsql: Auto Prepare Min Usages 5).
   */
  ofFrequent(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name !== undefined || this.#frequentCount === frequentMax || allColumns.test(text)) return name;
    const count = (this.#uses.get(text) ?? 0) + 1;
    if (this.#uses.size >= countedMax) this.#uses.clear();
    this.#uses.set(text, count);
    if (count < usesMin) return undefined;
    this.#uses.delete(text);
    this.#frequentCount++;
    return this.of(text);
  }
}
