/** An error of a command, with a next step. The message is printed unchanged. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Exit codes of all commands, for scripts. */
export const exitCodes = {
  done: 0,
  /** The request was rejected, or only a part of the work was done. */
  failed: 1,
  /** Invalid arguments or options. */
  usage: 2,
  /** The API or a database did not respond. Work on any other database was done. */
  unreachable: 3,
  /** `stuck`, `migrate status`, `audit verify` and others: an operator must act. */
  actionNeeded: 4,
  /** A change got no response and may have been executed. */
  unknown: 5,
  /** Stopped with Ctrl-C: 128 plus the signal number, which is the convention of shells. */
  interrupted: 130,
} as const;
