import { transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { faultPoint, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { isAttemptLimitReached } from "../webhook-endpoint/attempt-limit.ts";
import { countMatches, endReplay, readReplayState, startNext } from "./take-step.ts";

/** How long a replay goes on before another may have its place. */
const turnMs = 2_000;
/** Between steps: for the endpoint to take what it was handed, or only for others to get on. */
const handedPauseMs = 100;
const walkedPauseMs = 20;
/** How long an endpoint that takes nothing is left alone. */
const stuckPauseMs = 2_000;
/** Pause of a replay whose business has reached its limit of attempts in 24 hours. */
const limitPauseMs = 60_000;
/** Deliveries that a replay lets wait at its endpoint. */
const waitingMin = 16;
const waitingMax = 512;

/**
 * Goes on with a replay for a while. A step is one short transaction, and hands over about what the
 * endpoint takes until the next one. So a new event waits behind some tenths of a second of the
 * replay, and never behind all of it; an endpoint that takes nothing is handed nothing more.
 */
export async function advanceReplay(context: Context, id: string, lease: Lease): Promise<void> {
  const { orm, signals } = context;
  const endMs = performance.now() + turnMs;
  let bound = waitingMin;
  let left: number | undefined;
  let isStuck = false;
  const isLimited = await isLimitReached(context, id);
  while (!isStuck && !isLimited && performance.now() < endMs) {
    const step = await takeStep(context, id, lease, bound);
    faultPoint("replay.committed");
    if (!step) return;
    if (step.sent > 0) signals.emit("due");
    if (step.isDone) return;
    const taken = left === undefined ? undefined : left - step.waiting;
    isStuck = step.isFull && taken !== undefined && taken <= 0;
    bound = nextBound(bound, taken ?? 0);
    left = step.waiting + step.sent;
    await sleep(step.sent > 0 || step.isFull ? handedPauseMs : walkedPauseMs);
  }
  const next = "now() + ? * interval '1 millisecond'";
  const pauseMs = isLimited ? limitPauseMs : isStuck ? stuckPauseMs : 0;
  const sql = `update webhook_replay set next_step_at = ${next} where id = ? and next_step_at is not null`;
  await orm.em.fork().execute(sql, [pauseMs, id]);
}

async function isLimitReached(context: Context, id: string): Promise<boolean> {
  const em = context.orm.em.fork();
  const [replay] = await em.execute<{ business_id: string }[]>("select business_id from webhook_replay where id = ?", [id]);
  return replay !== undefined && (await isAttemptLimitReached(em, context, replay.business_id));
}

/** Twice what the endpoint took since the last step; one that took little may be an exception. */
export const nextBound = (bound: number, taken: number): number =>
  Math.min(Math.max(2 * taken, Math.ceil(bound / 2), waitingMin), waitingMax);

/** Undefined when somebody else does it, or it is gone with its endpoint. */
async function takeStep({ orm }: Context, id: string, lease: Lease, bound: number) {
  return await transaction(orm, async (em) => {
    const standing = (await lease.holds(em)) ? await readReplayState(em, id) : undefined;
    if (!standing) return undefined;
    const { is_active: isActive, is_counted: isCounted, waiting } = standing;
    /** So much waits at the endpoint that it is handed nothing. */
    const isFull = isCounted && waiting >= bound;
    const step = { sent: 0, isDone: false, waiting, isFull };
    if (!isActive) {
      await endReplay(em, id);
      return { ...step, isDone: true };
    }
    if (!isCounted) await countMatches(em, id);
    else if (!isFull) Object.assign(step, await startNext(em, id, bound - waiting));
    faultPoint("replay.stepped");
    return step;
  });
}
