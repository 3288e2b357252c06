import { transaction } from "@amana/database";
import type { Lease } from "@amana/due-work";
import { faultPoint, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { countMatches, endReplay, readStanding, startNext } from "./take-step.ts";

/** How long a replay goes on before another may have its place, and the pause between steps. */
const turnMs = 2_000;
const stepPauseMs = 100;
/** Deliveries that a replay lets wait at its endpoint. */
const waitingMin = 16;
const waitingMax = 512;

/**
 * Goes on with a replay for a while. A step is one short transaction, and hands over about what the
 * endpoint takes until the next one. So a new event waits behind some tenths of a second of the
 * replay, and never behind all of it; an endpoint that takes nothing is handed nothing more.
 */
export async function advanceReplay(context: Context, id: string, lease: Lease): Promise<void> {
  const { orm, dispatcher } = context;
  const endMs = performance.now() + turnMs;
  let [sent, bound, left] = [0, waitingMin, 0];
  while (performance.now() < endMs) {
    const step = await takeStep(context, id, lease, bound);
    faultPoint("replay.committed");
    if (!step) return;
    if (step.sent > 0) dispatcher.pause.wake();
    if (step.isDone) return;
    sent += step.sent;
    bound = nextBound(bound, left - step.waiting);
    left = step.waiting + step.sent;
    if (step.isCounted) await sleep(stepPauseMs);
  }
  const pauseMs = sent === 0 ? turnMs : 0;
  await orm.em
    .fork()
    .execute(
      "update webhook_replay set next_step_at = now() + ? * interval '1 millisecond' where id = ? and next_step_at is not null",
      [pauseMs, id],
    );
}

/** Twice what the endpoint took since the last step; one that took little may be an exception. */
export const nextBound = (bound: number, taken: number): number =>
  Math.min(Math.max(2 * taken, Math.ceil(bound / 2), waitingMin), waitingMax);

/** Undefined when somebody else does it, or it is gone with its endpoint. */
async function takeStep({ orm }: Context, id: string, lease: Lease, bound: number) {
  return await transaction(orm, async (em) => {
    const standing = (await lease.holds(em)) ? await readStanding(em, id) : undefined;
    if (!standing) return undefined;
    const { is_active: isActive, is_counted: isCounted, waiting } = standing;
    const step = { sent: 0, isDone: false, waiting, isCounted };
    if (!isActive) {
      await endReplay(em, id);
      return { ...step, isDone: true };
    }
    if (!isCounted) await countMatches(em, id);
    else if (waiting < bound) Object.assign(step, await startNext(em, id, bound - waiting));
    faultPoint("replay.stepped");
    return step;
  });
}
