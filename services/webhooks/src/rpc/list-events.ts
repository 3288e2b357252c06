import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { eventMessage } from "../event/event.message.ts";
import { listEventRows } from "../event/queries.ts";

export const listEvents =
  ({ orm }: Context): Implementation<typeof EventService.method.listEvents> =>
  async ({ limit, offset, type, fromMs, toMs }, { caller }) => {
    const businessId = businessOf(caller);
    const { rows, total } = await listEventRows(orm, { businessId, limit, offset, type, fromMs, toMs });
    return { events: rows.map(eventMessage), total };
  };
