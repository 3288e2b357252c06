/**
 * A reason why the local environment cannot start, for the person at the terminal. The message
 * holds what is wrong and, on its own line, what to do next; both are also there apart.
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
