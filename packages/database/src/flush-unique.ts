import { type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/postgresql";

/**
 * Writes the pending changes of `em`. Throws `refusal()` if they violate the unique constraint with
 * the name `constraint`. If two concurrent transactions insert the same value, the second
 * transaction therefore gets the refusal.
 */
export async function flushUnique(em: SqlEntityManager, constraint: string, refusal: () => Error): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    const isDuplicate = error instanceof UniqueConstraintViolationException;
    throw isDuplicate && (error as { constraint?: string }).constraint === constraint ? refusal() : error;
  }
}
