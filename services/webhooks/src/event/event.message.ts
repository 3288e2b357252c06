import type { EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventRow } from "./queries.ts";

export const toEventMessage = (row: EventRow): MessageInitShape<typeof EventSchema> => ({
  id: row.id,
  type: row.type,
  createdAtMs: BigInt(row.created_at_ms),
  body: row.body,
});
