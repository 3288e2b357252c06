import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { toDeliveryMessages } from "../delivery/delivery.message.ts";
import { readDeliveries } from "../delivery/queries.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { readEvent } from "../event/queries.ts";

export const listDeliveries =
  ({ orm }: Context): Implementation<typeof EventService.method.listDeliveries> =>
  async ({ eventId, limit, offset }, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(eventId) || !(await readEvent(orm.em, businessId, eventId))) throw eventNotFound();
    const rows = await readDeliveries(orm.em, businessId, eventId);
    return { deliveries: toDeliveryMessages(rows.slice(offset, offset + limit)), total: rows.length };
  };
