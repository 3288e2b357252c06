import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { eventView } from "../event/event.message.ts";

export const getEvent =
  ({ orm }: Context): Implementation<typeof EventService.method.getEvent> =>
  async ({ id }, { caller }) => {
    const event = await eventView.read(orm.em, businessOf(caller), id);
    if (!event) throw eventNotFound();
    return eventView.toMessage(event);
  };
