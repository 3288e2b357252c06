import { inTrace } from "../observability/trace.ts";
import { allTenants, forTenant } from "./tenant.ts";
import { sleep } from "./time.ts";

interface Call<Item> {
  readonly items: readonly Item[];
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Returns a function that processes items in batches, one batch at a time. Items that arrive while
 * a batch is in progress form the next batch of up to `max` items. With `waitMs`, each batch waits
 * this time for further items before it starts. An item never waits for a batch to fill. The items
 * of a call stay together and in order. The call resolves or throws with the result of its batch. A
 * batch has no trace and runs for all tenants, because its items can belong to several traces and
 * tenants.
 */
export function createBatcher<Item>(
  max: number,
  work: (items: readonly Item[]) => Promise<void>,
  waitMs = 0,
): (items: readonly Item[]) => Promise<void> {
  let queued: Call<Item>[] = [];
  let isProcessing = false;

  const processQueue = async () => {
    isProcessing = true;
    while (queued.length > 0) {
      if (waitMs > 0) await sleep(waitMs);
      const batch: Call<Item>[] = [];
      for (let size = 0, call = queued[0]; call; call = queued[batch.length]) {
        size += call.items.length;
        if (size > max && batch.length > 0) break;
        batch.push(call);
      }
      queued = queued.slice(batch.length);
      try {
        await work(batch.flatMap(({ items }) => items));
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isProcessing = false;
  };

  return async (items) => {
    const done = Promise.withResolvers<void>();
    queued.push({ items, done });
    if (!isProcessing) void inTrace(undefined, () => forTenant(allTenants, processQueue));
    await done.promise;
  };
}
