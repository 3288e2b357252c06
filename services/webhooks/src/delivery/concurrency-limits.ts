import { FairSemaphore } from "@amana/runtime";

/** Limits of the attempts in flight in this process. */
export interface DeliveryLimits {
  readonly total: number;
  readonly perBusiness: number;
  readonly perEndpoint: number;
}

/** Maximum number of attempts in flight to one slow endpoint. */
const perSlowEndpoint = 2;
/** Leased deliveries per slot. More than one, so that a free slot does not wait for a claim. */
const leasedPerSlot = 2;

const eighth = (slots: number) => Math.max(1, Math.floor(slots / 8));

/**
 * The slots of the attempts in this process. Slow endpoints share a small separate semaphore. The
 * column `slow` of an endpoint is the state of its circuit breaker. Each recorded attempt sets this
 * column, so the state applies in all replicas and after a restart.
 */
export class ConcurrencyLimits {
  /** False while no worker runs. This process then gets no leases for new deliveries. */
  isWorkerRunning = false;
  readonly healthy: FairSemaphore;
  readonly slow: FairSemaphore;

  constructor({ total, perBusiness, perEndpoint }: DeliveryLimits) {
    this.healthy = new FairSemaphore({ slots: total, perTenant: perBusiness, perKey: perEndpoint });
    const perKey = Math.min(perSlowEndpoint, perEndpoint);
    this.slow = new FairSemaphore({ slots: eighth(total), perTenant: eighth(perBusiness), perKey });
  }

  /**
   * Computes which deliveries of new events may be inserted with a lease. `businessIds` contains
   * the business of each event. `ordinals` contains an entry for each event, in the same order: its
   * number among the events of its business, from 1, or undefined if the process or the business
   * already has enough leases.
   *
   * `endpoints` lists the endpoints that have leased deliveries. Such an endpoint gets leases for
   * the first `free` events of its business. Each other endpoint gets leases for the first
   * `perEndpoint` events.
   */
  capacityForNew(businessIds: readonly string[]) {
    const { healthy, isWorkerRunning } = this;
    const { slots, perTenant, perKey } = healthy.limits;
    const isFull = (id: string) =>
      !isWorkerRunning ||
      healthy.usedAndQueued() >= leasedPerSlot * slots ||
      healthy.usedAndQueued(id) >= leasedPerSlot * perTenant;
    const counts = new Map<string, number>();
    const ordinals = businessIds.map((id) => {
      const ordinal = (counts.get(id) ?? 0) + 1;
      counts.set(id, ordinal);
      return isFull(id) ? undefined : ordinal;
    });
    const perEndpoint = leasedPerSlot * perKey;
    const endpoints = [...counts.keys()].flatMap((businessId) =>
      Array.from(healthy.keys(businessId), (id) => ({ id, free: perEndpoint - healthy.usedAndQueued(businessId, id) })),
    );
    return { ordinals, endpoints, perEndpoint };
  }

  /** Returns true if half of an endpoint's slots are free, so that a claim is worth its cost. */
  isHalfFree(delivery: { readonly business_id: string; readonly endpoint_id: string; readonly slow: boolean }): boolean {
    const slots = delivery.slow ? this.slow : this.healthy;
    return slots.usedAndQueued(delivery.business_id, delivery.endpoint_id) * 2 <= slots.limits.perKey;
  }
}
