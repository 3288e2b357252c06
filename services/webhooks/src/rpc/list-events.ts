import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { dateOf } from "@amana/runtime";
import type { Context } from "../context.ts";
import { toEventMessage } from "../event/event.message.ts";
import { readEvents } from "../event/queries.ts";

export const listEvents =
  ({ orm }: Context): Implementation<typeof EventService.method.listEvents> =>
  async (request, { caller }) => {
    const filter = { type: request.type, from: dateOf(request.fromMs), to: dateOf(request.toMs) };
    const { rows, total } = await readEvents(orm.em, businessOf(caller), filter, request);
    return { events: rows.map(toEventMessage), total };
  };
