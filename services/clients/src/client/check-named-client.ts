import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedClientNotFound } from "./client.errors.ts";
import { readClient } from "./queries.ts";

/** Refuses a list's filter that names no client of the business. Without one there is nothing to refuse. */
export async function checkNamedClient(em: SqlEntityManager, businessId: string, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  if (!isUuid(id) || !(await readClient(em, businessId, id))) throw namedClientNotFound("");
}
