import { transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { faultPoint, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { isAttemptLimitReached } from "../webhook-endpoint/attempt-limit.ts";
import { countMatches, endReplay, readReplayState, restartDeliveries } from "./replay-step.ts";

/** Time after which a replay yields to other replays. */
const timeSliceMs = 2_000;
/** Pause after a step that restarted deliveries. The worker sends them during the pause. */
const restartPauseMs = 100;
/** Pause after a step that only counted or skipped events. */
const scanPauseMs = 20;
/** Pause of a replay whose endpoint completes no deliveries. */
const stuckPauseMs = 2_000;
/** Pause of a replay whose business has reached its limit of attempts in 24 hours. */
const limitPauseMs = 60_000;
/**
 * Minimum and maximum of `waitingLimit`. A step restarts no deliveries while the endpoint already
 * has `waitingLimit` due deliveries.
 */
const waitingMin = 16;
const waitingMax = 512;

/**
 * Advances a replay by steps for one time slice. Each step is one short transaction. A step
 * restarts about as many deliveries as the endpoint completes before the next step. The replay
 * therefore delays the delivery of a new event by only some tenths of a second. While the endpoint
 * completes no deliveries, the replay restarts no further deliveries.
 */
export async function advanceReplay(context: Context, id: string, lease: Lease): Promise<void> {
  const { orm, signals } = context;
  const endMs = performance.now() + timeSliceMs;
  let waitingLimit = waitingMin;
  let waitingBefore: number | undefined;
  let isStuck = false;
  const isLimited = await isLimitReached(context, id);
  while (!isStuck && !isLimited && performance.now() < endMs) {
    const step = await runStep(context, id, lease, waitingLimit);
    faultPoint("replay.committed");
    if (!step) return;
    if (step.sent > 0) signals.emit("due");
    if (step.isDone) return;
    const completed = waitingBefore === undefined ? undefined : waitingBefore - step.waiting;
    isStuck = step.isFull && completed !== undefined && completed <= 0;
    waitingLimit = nextWaitingLimit(waitingLimit, completed ?? 0);
    waitingBefore = step.waiting + step.sent;
    await sleep(step.sent > 0 || step.isFull ? restartPauseMs : scanPauseMs);
  }
  const nextStepAt = "now() + ? * interval '1 millisecond'";
  const pauseMs = isLimited ? limitPauseMs : isStuck ? stuckPauseMs : 0;
  const sql = `update webhook_replay set next_step_at = ${nextStepAt} where id = ? and next_step_at is not null`;
  await orm.em.fork().execute(sql, [pauseMs, id]);
}

async function isLimitReached(context: Context, id: string): Promise<boolean> {
  return await transaction(context.orm, async (em) => {
    const [replay] = await em.execute<{ business_id: string }[]>("select business_id from webhook_replay where id = ?", [id]);
    return replay !== undefined && (await isAttemptLimitReached(em, context, replay.business_id));
  });
}

/**
 * Returns the next `waitingLimit`: twice the number of deliveries that were completed since the
 * last step, within the range from `waitingMin` to `waitingMax`. One call reduces the limit by at
 * most half, because a single slow step may be an exception.
 */
export const nextWaitingLimit = (waitingLimit: number, completed: number): number =>
  Math.min(Math.max(2 * completed, Math.ceil(waitingLimit / 2), waitingMin), waitingMax);

/** Runs a step. Returns undefined if the lease is lost or the replay is deleted. */
async function runStep({ orm }: Context, id: string, lease: Lease, waitingLimit: number) {
  return await transaction(orm, async (em) => {
    const state = (await lease.renew(em)) ? await readReplayState(em, id) : undefined;
    if (!state) return undefined;
    const { is_active: isActive, is_counted: isCounted, waiting } = state;
    const isFull = isCounted && waiting >= waitingLimit;
    const step = { sent: 0, isDone: false, waiting, isFull };
    if (!isActive) {
      await endReplay(em, id);
      return { ...step, isDone: true };
    }
    if (!isCounted) await countMatches(em, id);
    else if (!isFull) Object.assign(step, await restartDeliveries(em, id, waitingLimit - waiting));
    faultPoint("replay.stepped");
    return step;
  });
}
