import { inTrace } from "../observability/trace.ts";
import { allTenants, forTenant } from "./tenant.ts";

interface Call<Item> {
  readonly items: readonly Item[];
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Does work in groups, one after the other: whatever comes while a group is under way is the next,
 * up to `max` items, so nothing waits for a group to fill. The returned function resolves, or
 * throws, as the group does that its items were in; those of one call stay together and in order. A
 * group belongs to no trace, and is worked on for all tenants: its items may be several's.
 */
export function createBatcher<Item>(
  max: number,
  work: (items: readonly Item[]) => Promise<void>,
): (items: readonly Item[]) => Promise<void> {
  let waiting: Call<Item>[] = [];
  let isWorking = false;

  const workOff = async () => {
    isWorking = true;
    while (waiting.length > 0) {
      const group: Call<Item>[] = [];
      for (let size = 0, call = waiting[0]; call; call = waiting[group.length]) {
        size += call.items.length;
        if (size > max && group.length > 0) break;
        group.push(call);
      }
      waiting = waiting.slice(group.length);
      try {
        await work(group.flatMap(({ items }) => items));
        for (const { done } of group) done.resolve();
      } catch (error) {
        for (const { done } of group) done.reject(error);
      }
    }
    isWorking = false;
  };

  return async (items) => {
    const done = Promise.withResolvers<void>();
    waiting.push({ items, done });
    if (!isWorking) void inTrace(undefined, () => forTenant(allTenants, workOff));
    await done.promise;
  };
}
