import { AuditEventJson, renderAuditEvent } from "@amana/public-api";
import { text, timestamp, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { list } from "../operations.ts";

export async function auditEvents(app: App, { rpc: { auditEvents: rpc } }: Gateway): Promise<void> {
  list(app, "", {
    tags: ["Audit trail"],
    rpc: rpc.listAuditEvents,
    summary: "List what operators, keys and the platform did, newest first",
    description: "Five years back. An action in another service than identity shows within seconds.",
    filters: {
      business_id: uuid(),
      action: text(100, { examples: ["api_key.revoked"] }),
      entity_id: uuid(),
      from: timestamp({ description: "Done at this time or later." }),
      to: timestamp({ description: "Done before this time, which is itself left out." }),
    },
    answer: AuditEventJson,
    render: renderAuditEvent,
  });
}
