/** Why a command did nothing, with a next step: shown as it stands. */
export class Refused extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.refused) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What scripts can tell apart. */
export const exitCodes = {
  done: 0,
  /** Refused, or not all of it was done. */
  refused: 1,
  /** The command was called in a way that it does not know. */
  usage: 2,
  /** A database or the API did not answer; what others hold was still shown or done. */
  unreachable: 3,
  /** `stuck`, `migrate status`, `audit verify`: a person has to do something. */
  found: 4,
  /** No answer came to a change, which may have been done all the same. */
  unknown: 5,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;
