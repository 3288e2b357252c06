import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "WebhookReplay",
  tableName: "webhook_replay",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    endpointId: p.uuid(),
    status: p.text().$type<EnumName<typeof proto.WebhookReplayStatus>>(),
    matched: p.integer(),
    sent: p.integer(),
  },
});

/**
 * A request to send an endpoint's past deliveries again. SQL statements write the rows, not the
 * ORM.
 */
export class WebhookReplay extends schema.class {}
schema.setClass(WebhookReplay);
