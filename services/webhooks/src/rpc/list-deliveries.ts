import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { readDeliveries } from "../delivery/delivery.message.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { eventView } from "../event/event.message.ts";

export const listDeliveries =
  ({ orm }: Context): Implementation<typeof EventService.method.listDeliveries> =>
  async ({ eventId, limit, offset }, { caller }) => {
    const businessId = businessOf(caller);
    if (!(await eventView.read(orm.em, businessId, eventId))) throw eventNotFound();
    const deliveries = await readDeliveries(orm.em, businessId, eventId);
    return { deliveries: deliveries.slice(offset, offset + limit), total: deliveries.length };
  };
