import type { Orm } from "./orm.ts";

/** Returns whether the database executes a statement, for readiness probes. Never throws. */
export async function isDatabaseReachable(orm: Orm): Promise<boolean> {
  try {
    await orm.em.fork().getConnection().execute("select 1");
    return true;
  } catch {
    return false;
  }
}
