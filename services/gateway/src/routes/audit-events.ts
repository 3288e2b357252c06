import { AuditEventJson, renderAuditEvent } from "@amana/public-api";
import { text, timestamp, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addListRoute } from "../operations.ts";

export async function auditEvents(app: App, { rpc: { auditEvents: rpc } }: Gateway): Promise<void> {
  addListRoute(app, "", {
    tag: "Operators",
    rpc: rpc.listAuditEvents,
    summary: "List audit events",
    description:
      "Returns the actions of operators, API keys and the platform in the last five years, newest first. Actions in " +
      "services other than identity appear within seconds.",
    filters: {
      business_id: uuid("Business that the action concerns."),
      action: text(100, { description: "Name of the action.", examples: ["api_key.revoked"] }),
      entity_id: uuid("Id of the changed resource."),
      from: timestamp({ description: "Start of the time range, inclusive." }),
      to: timestamp({ description: "End of the time range, exclusive." }),
    },
    response: AuditEventJson,
    render: renderAuditEvent,
  });
}
