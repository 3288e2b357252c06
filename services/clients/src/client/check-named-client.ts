import type { Owner } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { namedClientNotFound } from "./client.errors.ts";
import { clientView } from "./client.message.ts";

/** Refuses a list's filter that names no client of the business. Without one nothing is refused. */
export async function checkNamedClient(
  em: SqlEntityManager,
  owner: Owner,
  { clientId }: { clientId?: string | undefined },
): Promise<void> {
  if (clientId === undefined) return;
  if (!(await clientView.read(em, owner, clientId))) throw namedClientNotFound("");
}
