import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { eventView } from "../event/event.message.ts";
import { eventList } from "../event/queries.ts";

export const listEvents =
  ({ orm }: Context): Implementation<typeof EventService.method.listEvents> =>
  async (request, { caller }) => {
    const { rows, total } = await eventList.page(orm.em, businessOf(caller), request);
    return { events: rows.map((row) => eventView.toMessage(row)), total };
  };
