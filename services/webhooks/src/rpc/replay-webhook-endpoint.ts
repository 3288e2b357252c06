import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { WebhookReplaySchema } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { afterCommit, checkDue, databaseTime } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { dateOf, uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { countMatches } from "../replay/replay-step.ts";
import { replayInProgress, replayRangeEmpty } from "../replay/webhook-replay.errors.ts";
import { webhookReplayView } from "../replay/webhook-replay.message.ts";
import { WebhookReplay } from "../replay/webhook-replay.ts";
import { requireAttemptsLeft } from "../webhook-endpoint/attempt-limit.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { requireActiveEndpoint } from "../webhook-endpoint/require-active-endpoint.ts";

const eventRetentionMs = 30 * 24 * 60 * 60 * 1000;
const statusesDefault = [DeliveryStatus.SKIPPED, DeliveryStatus.FAILED];

/** SQL expression: a text array from a JSON parameter. */
const textArray = "array(select jsonb_array_elements_text(?::jsonb))";

/** Stores a replay and runs its first counting step. `runReplays` runs all further steps. */
export const replayWebhookEndpoint =
  (context: Context): Implementation<typeof WebhookEndpointService.method.replayWebhookEndpoint> =>
  async ({ id: endpointId, sinceMs, untilMs, types, statuses }, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(context.orm, call, WebhookReplaySchema, async (em) => {
      const endpoint = await requireActiveEndpoint(em, businessId, endpointId);
      await requireAttemptsLeft(em, context, businessId);
      const now = await databaseTime(em);
      const nowMs = now.getTime();
      const since = new Date(Math.max(dateOf(sinceMs)?.getTime() ?? 0, nowMs - eventRetentionMs));
      const until = new Date(Math.min(dateOf(untilMs)?.getTime() ?? nowMs, nowMs));
      if (since >= until) throw replayRangeEmpty();
      const id = uuidv7();
      const statusNames = (statuses.length > 0 ? statuses : statusesDefault).map((status) =>
        requestedName(DeliveryStatus, status),
      );
      const inserted = await em.execute(
        `insert into webhook_replay
           (id, business_id, endpoint_id, status, since, until, types, statuses, reached_at, reached_id, next_step_at)
         select ?, ?, ?, 'RUNNING', ?, ?, ${textArray}, ${textArray}, ?, '00000000-0000-0000-0000-000000000000', now()
         on conflict (business_id, endpoint_id) where next_step_at is not null do nothing returning id`,
        [id, businessId, endpoint.id, since, until, JSON.stringify(types), JSON.stringify(statusNames), since],
      );
      if (inserted.length === 0) throw replayInProgress();
      await countMatches(em, id);
      const after = {
        endpoint_id: endpoint.id,
        since: since.toISOString(),
        until: until.toISOString(),
        types: types.join(),
        statuses: statusNames.join(),
      };
      recordEndpointAction(em, now, call, "webhook_replay.asked", { id, businessId }, { after });
      afterCommit(em, () => checkDue(context.orm));
      return webhookReplayView.toMessage(await em.findOneOrFail(WebhookReplay, { id, businessId }));
    });
  };
