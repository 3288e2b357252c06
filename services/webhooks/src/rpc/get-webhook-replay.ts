import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { webhookReplayNotFound } from "../replay/webhook-replay.errors.ts";
import { webhookReplayView } from "../replay/webhook-replay.message.ts";

export const getWebhookReplay =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.getWebhookReplay> =>
  async ({ id, replayId }, { caller }) => {
    const replay = await webhookReplayView.read(orm.em, businessOf(caller), replayId);
    if (replay?.endpointId !== id) throw webhookReplayNotFound();
    return webhookReplayView.toMessage(replay);
  };
