/**
 * The pause after the `done`-th time, counted from 0: the next of these, of which the last repeats.
 */
export function nextPauseSeconds(pausesSeconds: readonly number[], done: number): number {
  const pause = pausesSeconds[Math.min(done, pausesSeconds.length - 1)];
  if (pause === undefined) throw new RangeError("a schedule needs a pause");
  return pause;
}
