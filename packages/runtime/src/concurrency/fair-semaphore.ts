interface FairLimits {
  /** Maximum number of slots in use. */
  readonly slots: number;
  /** Maximum number of slots that one tenant uses. */
  readonly perTenant: number;
  /** Maximum number of slots that one key of a tenant uses; no limit by default. */
  readonly perKey?: number;
}

interface Waiter {
  readonly admit: (admitted: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

class Key {
  used = 0;
  readonly waiters: Waiter[] = [];
}

class Tenant {
  used = 0;
  queued = 0;
  readonly keys = new Map<string, Key>();
  /** Keys with waiters, in the order in which they get slots. */
  readonly waiting = new Map<string, Key>();
}

/**
 * A semaphore that is fair between tenants, and between the keys of a tenant. Free slots go to
 * waiting tenants in rotation. A thousand calls of one tenant therefore delay a call of another
 * tenant by only one slot.
 */
export class FairSemaphore {
  readonly limits: Required<FairLimits>;
  #used = 0;
  #queued = 0;
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants with waiters, in the order in which they get slots. */
  readonly #waiting = new Map<string, Tenant>();

  constructor({ slots, perTenant, perKey = slots }: FairLimits) {
    this.limits = { slots, perTenant, perKey };
  }

  /** Runs `work` in a slot. Throws `tooLate()` if no slot is free within `waitMs`. */
  async run<T>(
    tenant: string,
    waitMs: number,
    work: () => Promise<T>,
    tooLate = () => new Error(`no slot became free within ${Math.round(waitMs)} ms`),
  ): Promise<T> {
    const entered = this.acquire(tenant, waitMs);
    if (entered !== true && !(await entered)) throw tooLate();
    try {
      return await work();
    } finally {
      this.release(tenant);
    }
  }

  /**
   * Takes a slot. Returns true if a slot is free. Otherwise waits for up to `waitMs`, and resolves
   * to false if no slot became free. The caller calls `release` with the same tenant and key for
   * each slot that it took.
   */
  acquire(tenant: string, waitMs: number, key = ""): true | Promise<boolean> {
    const tenantEntry = entryOf(this.#tenants, tenant, Tenant);
    const keyEntry = entryOf(tenantEntry.keys, key, Key);
    // Does not check for waiters. If a slot is free, no waiter is within its limits, because
    // `release` gives each slot to the next waiter that is within its limits.
    if (this.#used < this.limits.slots && this.#hasShare(tenantEntry, keyEntry)) return this.#use(tenantEntry, keyEntry);
    return new Promise((admit) => {
      const waiter = { admit, timer: setTimeout(() => this.#expire(tenant, key, waiter), waitMs) };
      keyEntry.waiters.push(waiter);
      this.#count(tenantEntry, 1);
      tenantEntry.waiting.set(key, keyEntry);
      this.#waiting.set(tenant, tenantEntry);
    });
  }

  release(tenant: string, key = ""): void {
    const tenantEntry = entryOf(this.#tenants, tenant, Tenant);
    const keyEntry = entryOf(tenantEntry.keys, key, Key);
    this.#used--;
    tenantEntry.used--;
    keyEntry.used--;
    this.#admitNext();
    this.#deleteUnused(tenant, key);
  }

  /** Returns the number of used slots and waiters: of all tenants, a tenant, or a tenant's key. */
  usedAndQueued(tenant?: string, key?: string): number {
    if (tenant === undefined) return this.#used + this.#queued;
    const tenantEntry = this.#tenants.get(tenant);
    if (key === undefined) return tenantEntry ? tenantEntry.used + tenantEntry.queued : 0;
    const keyEntry = tenantEntry?.keys.get(key);
    return keyEntry ? keyEntry.used + keyEntry.waiters.length : 0;
  }

  /** Returns the number of waiters of a tenant. */
  queuedCount(tenant: string): number {
    return this.#tenants.get(tenant)?.queued ?? 0;
  }

  /** Returns the keys of a tenant that use a slot or wait for a slot. */
  keys(tenant: string): Iterable<string> {
    return this.#tenants.get(tenant)?.keys.keys() ?? [];
  }

  #hasShare({ used }: Tenant, key: Key): boolean {
    return used < this.limits.perTenant && key.used < this.limits.perKey;
  }

  #use(tenant: Tenant, key: Key): true {
    this.#used++;
    tenant.used++;
    key.used++;
    return true;
  }

  #count(tenant: Tenant, waiters: 1 | -1): void {
    tenant.queued += waiters;
    this.#queued += waiters;
  }

  #admitNext(): void {
    for (const [tenantId, tenant] of this.#waiting) {
      for (const [keyId, key] of tenant.waiting) {
        if (!this.#hasShare(tenant, key)) continue;
        const { admit, timer } = key.waiters.shift() as Waiter;
        clearTimeout(timer);
        this.#count(tenant, -1);
        moveToEnd(tenant.waiting, keyId, key.waiters.length > 0);
        moveToEnd(this.#waiting, tenantId, tenant.waiting.size > 0);
        admit(this.#use(tenant, key));
        return;
      }
    }
  }

  #expire(tenantId: string, keyId: string, waiter: Waiter): void {
    const tenant = entryOf(this.#tenants, tenantId, Tenant);
    const key = entryOf(tenant.keys, keyId, Key);
    key.waiters.splice(key.waiters.indexOf(waiter), 1);
    this.#count(tenant, -1);
    if (key.waiters.length === 0) tenant.waiting.delete(keyId);
    if (tenant.waiting.size === 0) this.#waiting.delete(tenantId);
    this.#deleteUnused(tenantId, keyId);
    waiter.admit(false);
  }

  #deleteUnused(tenantId: string, keyId: string): void {
    if (this.usedAndQueued(tenantId, keyId) === 0) this.#tenants.get(tenantId)?.keys.delete(keyId);
    if (this.usedAndQueued(tenantId) === 0) this.#tenants.delete(tenantId);
  }
}

function entryOf<Entry>(entries: Map<string, Entry>, id: string, create: new () => Entry): Entry {
  const existing = entries.get(id);
  if (existing) return existing;
  const created = new create();
  entries.set(id, created);
  return created;
}

function moveToEnd<Entry>(entries: Map<string, Entry>, id: string, isKept: boolean): void {
  const entry = entries.get(id) as Entry;
  entries.delete(id);
  if (isKept) entries.set(id, entry);
}
