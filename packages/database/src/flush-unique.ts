import { type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/postgresql";

/**
 * Flushes and throws `refusal()` when the named unique constraint is violated. When two
 * concurrent transactions insert the same value, the later one therefore gets the refusal.
 */
export async function flushUnique(em: SqlEntityManager, constraint: string, refusal: () => Error): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    const isDuplicate = error instanceof UniqueConstraintViolationException;
    throw isDuplicate && (error as { constraint?: string }).constraint === constraint ? refusal() : error;
  }
}
