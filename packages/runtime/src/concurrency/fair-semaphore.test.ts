import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairSemaphore } from "./fair-semaphore.ts";

const longMs = 60_000;

describe("FairSemaphore", () => {
  test("FairSemaphore limits a tenant to its share of the slots, even if other slots are free", async () => {
    const semaphore = new FairSemaphore({ slots: 10, perTenant: 2 });
    expect([semaphore.acquire("a", longMs), semaphore.acquire("a", longMs)]).toEqual([true, true]);
    const third = semaphore.acquire("a", longMs);
    expect(third).toBeInstanceOf(Promise);
    expect(semaphore.acquire("b", longMs)).toBe(true);
    semaphore.release("a");
    expect(await third).toBe(true);
  });

  test("FairSemaphore limits a key to its share of the slots, and admits the tenant's other keys", async () => {
    const semaphore = new FairSemaphore({ slots: 10, perTenant: 5, perKey: 1 });
    expect(semaphore.acquire("a", longMs, "x")).toBe(true);
    const second = semaphore.acquire("a", longMs, "x");
    expect(second).toBeInstanceOf(Promise);
    expect(semaphore.acquire("a", longMs, "y")).toBe(true);
    expect([semaphore.usedAndQueued(), semaphore.usedAndQueued("a"), semaphore.usedAndQueued("a", "x")]).toEqual([3, 3, 2]);
    semaphore.release("a", "y");
    semaphore.release("a", "x");
    expect(await second).toBe(true);
    expect([...semaphore.keys("a")]).toEqual(["x"]);
  });

  test("FairSemaphore alternates between waiting tenants", async () => {
    const semaphore = new FairSemaphore({ slots: 1, perTenant: 1 });
    expect(semaphore.acquire("busy", longMs)).toBe(true);
    const order: string[] = [];
    const wait = async (tenant: string) => {
      await semaphore.acquire(tenant, longMs);
      order.push(tenant);
      semaphore.release(tenant);
    };
    const waits = [...Array.from({ length: 5 }, () => wait("busy")), wait("quiet"), wait("other")];
    semaphore.release("busy");
    await Promise.all(waits);
    expect(order).toEqual(["busy", "quiet", "other", "busy", "busy", "busy", "busy"]);
  });

  test("FairSemaphore alternates between the waiting keys of a tenant", async () => {
    const semaphore = new FairSemaphore({ slots: 1, perTenant: 1 });
    semaphore.acquire("a", longMs, "busy");
    const order: string[] = [];
    const wait = async (key: string) => {
      await semaphore.acquire("a", longMs, key);
      order.push(key);
      semaphore.release("a", key);
    };
    const waits = [wait("busy"), wait("busy"), wait("quiet")];
    semaphore.release("a", "busy");
    await Promise.all(waits);
    expect(order).toEqual(["busy", "quiet", "busy"]);
  });

  test("FairSemaphore rejects a caller that waits longer than the limit, and gives the next free slot to another caller", async () => {
    const semaphore = new FairSemaphore({ slots: 1, perTenant: 1 });
    semaphore.acquire("a", longMs);
    expect(await semaphore.acquire("b", 5)).toBe(false);
    semaphore.release("a");
    expect(semaphore.acquire("c", longMs)).toBe(true);
  });

  test("FairSemaphore frees a slot when its work fails, and does not start work that waited longer than the limit", async () => {
    const semaphore = new FairSemaphore({ slots: 1, perTenant: 1 });
    await expect(semaphore.run("a", longMs, () => Promise.reject(new Error("simulated failure")))).rejects.toThrow(
      "simulated failure",
    );
    expect(semaphore.acquire("a", longMs)).toBe(true);
    let started = false;
    const lateRun = semaphore.run("b", 20, async () => {
      started = true;
    });
    expect(semaphore.queuedCount("b")).toBe(1);
    await expect(lateRun).rejects.toThrow("no slot became free");
    semaphore.release("a");
    expect([started, semaphore.queuedCount("b")]).toEqual([false, 0]);
    expect(await semaphore.run("b", longMs, async () => 1)).toBe(1);
  });

  test("FairSemaphore, for any order of calls, exceeds no limit and leaves no slot free that a waiting caller may use", async () => {
    const limits = { slots: 5, perTenant: 3, perKey: 2 };
    const call = fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("x", "y"), fc.boolean());
    const anyOrder = fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
      const semaphore = new FairSemaphore(limits);
      const used: string[] = [];
      let queued: string[] = [];
      const usedBy = (prefix: string) => used.filter((id) => id.startsWith(prefix)).length;
      const mayEnter = (id: string) =>
        used.length < limits.slots && usedBy(id.slice(0, 1)) < limits.perTenant && usedBy(id) < limits.perKey;
      for (const [tenant, key, isEnter] of calls) {
        const id = `${tenant}${key}`;
        if (isEnter) {
          queued.push(id);
          Promise.resolve(semaphore.acquire(tenant, longMs, key)).then(() => {
            used.push(id);
            queued = queued.toSpliced(queued.indexOf(id), 1);
          });
        } else if (used.includes(id)) {
          used.splice(used.indexOf(id), 1);
          semaphore.release(tenant, key);
        }
        await new Promise(setImmediate);
        expect(used.length).toBeLessThanOrEqual(limits.slots);
        for (const each of ["a", "b", "c"]) expect(usedBy(each)).toBeLessThanOrEqual(limits.perTenant);
        for (const each of used) expect(usedBy(each)).toBeLessThanOrEqual(limits.perKey);
        expect(queued.filter(mayEnter)).toEqual([]);
        expect(semaphore.usedAndQueued()).toBe(used.length + queued.length);
      }
      while (used.length > 0) {
        const [id = ""] = used.splice(0, 1);
        semaphore.release(id.slice(0, 1), id.slice(1));
        await new Promise(setImmediate);
      }
      expect([semaphore.usedAndQueued(), queued]).toEqual([0, []]);
    });
    await fc.assert(anyOrder, { numRuns: 100 });
  });
});
