import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { toEventMessage } from "../event/event.message.ts";
import { readEvent } from "../event/queries.ts";

export const getEvent =
  ({ orm }: Context): Implementation<typeof EventService.method.getEvent> =>
  async ({ id }, { caller }) => {
    const businessId = businessOf(caller);
    const row = isUuid(id) ? await readEvent(orm.em, businessId, id) : undefined;
    if (!row) throw eventNotFound();
    return toEventMessage(row);
  };
