import { type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/postgresql";

/**
 * Of two that take one value at once the unique index lets the first through; the second is
 * refused.
 */
export async function flushUnique(em: SqlEntityManager, constraint: string, refusal: () => Error): Promise<void> {
  try {
    await em.flush();
  } catch (error) {
    const isTaken = error instanceof UniqueConstraintViolationException;
    throw isTaken && (error as { constraint?: string }).constraint === constraint ? refusal() : error;
  }
}
