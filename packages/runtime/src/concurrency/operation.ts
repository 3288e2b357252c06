import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage<string>();

/**
 * Runs `work` as the operation `name`: an RPC, the consumer of a topic, or a background task.
 * Metrics assign the database statements of `work` to that operation. Names must come from a set
 * that the code defines, because they become metric labels.
 */
export const inOperation = <T>(name: string, work: () => T): T => current.run(name, work);

/** Returns the name of the current operation, or "other" outside of all operations. */
export const currentOperation = (): string => current.getStore() ?? "other";
