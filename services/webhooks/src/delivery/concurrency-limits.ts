import { FairSemaphore } from "@amana/runtime";
import { HandshakeCpu } from "../http-client/handshake-cpu.ts";

/** Limits of the attempts in flight in this process. */
export interface DeliveryLimits {
  readonly total: number;
  readonly perBusiness: number;
  readonly perEndpoint: number;
}

/** Maximum number of attempts in flight to one slow endpoint. */
const perSlowEndpoint = 2;
/**
 * Maximum number of attempts of a business that resolve a name, connect or negotiate TLS at once. A
 * TLS handshake usually takes up to 5 ms of CPU time, and more if the business's server sends
 * costly certificates. Without this limit, the handshakes of one business would delay the
 * deliveries of other businesses.
 */
const connectingPerBusiness = 16;
/**
 * Maximum number of attempts of a business to one host and port that resolve a name, connect or
 * negotiate TLS at once. It leaves four slots for the business's other endpoints if a host does not
 * accept connections.
 */
const connectingPerHost = 12;
/**
 * Maximum number of attempts in flight to all slow endpoints of a business. Slow endpoints that do
 * not accept connections leave eight slots of `connectingPerBusiness` for the other endpoints.
 */
const slowPerBusiness = 8;
/**
 * Maximum number of leased deliveries per slot. It is more than one, so that a leased delivery is
 * ready when a slot becomes free.
 */
const leasedPerSlot = 2;

const eighthOf = (slots: number) => Math.max(1, Math.floor(slots / 8));

/**
 * Limits the attempts in flight in this process. Slow endpoints share a separate semaphore with few
 * slots. The column `slow` of an endpoint is the state of its circuit breaker. Each recorded
 * attempt sets this column, so the state applies in all replicas and after a restart.
 */
export class ConcurrencyLimits {
  /** False while no delivery worker runs. While it is false, `capacityForNew` allows no leases. */
  isWorkerRunning = false;
  readonly healthy: FairSemaphore;
  readonly slow: FairSemaphore;
  /**
   * Slots of attempts whose connection is not ready, and slots that stay occupied because of
   * `handshakeCpu`. The keys are hosts with ports.
   */
  readonly connecting: FairSemaphore;
  readonly handshakeCpu = new HandshakeCpu();

  constructor({ total, perBusiness, perEndpoint }: DeliveryLimits) {
    this.healthy = new FairSemaphore({ slots: total, perTenant: perBusiness, perKey: perEndpoint });
    const perKey = Math.min(perSlowEndpoint, perEndpoint);
    const perTenant = Math.min(slowPerBusiness, eighthOf(perBusiness));
    this.slow = new FairSemaphore({ slots: eighthOf(total), perTenant, perKey });
    this.connecting = new FairSemaphore({ slots: total, perTenant: connectingPerBusiness, perKey: connectingPerHost });
  }

  /**
   * Computes which deliveries of new events may be inserted with a lease of this process.
   * `businessIds` contains the business id of each event. The returned `ordinals` contains one
   * entry for each event, in the same order. An entry is the position of the event among the events
   * of its business, counted from 1. It is undefined if the process or the business already has
   * enough leases.
   *
   * The returned `endpoints` lists the endpoints that already have leased deliveries. Such an
   * endpoint gets leases for the first `free` events of its business. An endpoint that is not in
   * the list gets leases for the first `perEndpoint` events.
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

  /** True if no attempt uses a slot or waits for one. */
  get isIdle(): boolean {
    return this.healthy.usedAndQueued() + this.slow.usedAndQueued() === 0;
  }

  /**
   * Returns true if at least half of an endpoint's slots are free, so that a claim is worth its
   * cost.
   */
  isHalfFree(delivery: { readonly business_id: string; readonly endpoint_id: string; readonly slow: boolean }): boolean {
    const slots = delivery.slow ? this.slow : this.healthy;
    return slots.usedAndQueued(delivery.business_id, delivery.endpoint_id) * 2 <= slots.limits.perKey;
  }
}
