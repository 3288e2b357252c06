import type { Orm } from "./orm.ts";

/** Whether the database answers right now: for readiness probes. Never throws. */
export async function databaseAnswers(orm: Orm): Promise<boolean> {
  try {
    await orm.em.fork().getConnection().execute("select 1");
    return true;
  } catch {
    return false;
  }
}
