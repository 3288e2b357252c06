/**
 * A definition of rows that have waited longer than expected. A service lists its own definitions
 * and the definitions of the packages that it uses. The command `amana stuck` reads the rows.
 * `table`, `where`, `since` and `id` are SQL, and must be constants of the code.
 */
export interface StuckRows {
  /** Description of the rows, for example "refunds without a known outcome". */
  readonly what: string;
  readonly table: string;
  /** Condition of stuck rows. */
  readonly where: string;
  /** Column or expression with the time since which a row has waited. */
  readonly since: string;
  /** Expression that identifies a row. Default: the column `id`. */
  readonly id?: string;
  /** Next step for the operator, in one or two sentences. */
  readonly todo: string;
}
