/**
 * Rows that wait longer than they should. A service lists its own and those of the packages it
 * uses; who looks at them is the command `amana stuck`. All texts are SQL of ours.
 */
export interface StuckRows {
  /** "refunds without a known outcome" */
  readonly what: string;
  readonly table: string;
  /** Which rows wait too long. */
  readonly where: string;
  /** Since when one of them waits. */
  readonly since: string;
  /** What tells one from another; the column `id` unless given. */
  readonly id?: string;
  /** What a person does about it, in one or two sentences. */
  readonly todo: string;
}
