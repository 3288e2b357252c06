import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { deliveryMessages } from "../delivery/delivery.message.ts";
import { listDeliveryRows } from "../delivery/queries.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { findEvent } from "../event/queries.ts";

export const listDeliveries =
  ({ orm }: Context): Implementation<typeof EventService.method.listDeliveries> =>
  async ({ eventId, limit, offset }, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(eventId) || !(await findEvent(orm, businessId, eventId))) throw eventNotFound();
    const rows = await listDeliveryRows(orm, businessId, eventId);
    return { deliveries: deliveryMessages(rows.slice(offset, offset + limit)), total: rows.length };
  };
