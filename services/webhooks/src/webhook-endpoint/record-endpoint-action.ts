import { byCaller, recordAction } from "@amana/messaging";
import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

type Snapshot = Readonly<Record<string, string>>;

/** Records an action of a business on an endpoint or replay in the audit trail. */
export function recordEndpointAction(
  em: SqlEntityManager,
  now: Date,
  call: Call,
  action: `${"webhook_endpoint" | "webhook_replay"}.${string}`,
  { id, businessId }: { id: string; businessId: string },
  { before, after }: { before?: Snapshot; after: Snapshot },
): void {
  const [type = ""] = action.split(".");
  recordAction("webhooks")(em, now, { by: byCaller(call), action, entity: { type, id }, businessId, before, after });
}
