import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedClientNotFound } from "./client.errors.ts";
import { clientView } from "./client.message.ts";

/** Refuses a list's filter that names no client of the business. Without one there is nothing to refuse. */
export async function checkNamedClient(em: SqlEntityManager, businessId: string, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  if (!(await clientView.read(em, businessId, id))) throw namedClientNotFound("");
}
