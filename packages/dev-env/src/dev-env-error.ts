/**
 * An error of the local environment that the user can fix. The message is `problem` and, on the
 * next line, `nextStep`.
 */
export class DevEnvError extends Error {
  readonly problem: string;
  readonly nextStep: string;

  constructor(problem: string, nextStep: string, options?: ErrorOptions) {
    super(`${problem}\n${nextStep}`, options);
    this.name = "DevEnvError";
    this.problem = problem;
    this.nextStep = nextStep;
  }
}
