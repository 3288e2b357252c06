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
  /** A database or the API did not respond. The work on the other databases was done. */
  unreachable: 3,
  /** `stuck`, `migrate status`, `audit verify` and others: an operator must act. */
  actionNeeded: 4,
  /** A change got no response and may be done. */
  unknown: 5,
  /** Ctrl-C: 128 plus the signal number, as shells report it. */
  interrupted: 130,
} as const;
