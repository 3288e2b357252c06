import { Pause } from "@amana/runtime";
import { endpointsMax } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import type { ClaimedDelivery, Lane, NewDelivery, Room } from "./claim.ts";
import { Business, Endpoint, firstWindow, type Held, sumOf } from "./endpoint.ts";
import { placesIn, roomBeside, type Shares } from "./room.ts";

/** How one attempt ended for its endpoint: LATE when it took long or got no answer. */
export type Pace = "IN_TIME" | "LATE";

/** Makes one attempt; calls `answered` when its endpoint is free again, resolves when recorded. */
export type Attempt = (delivery: ClaimedDelivery, answered: (pace: Pace) => void) => Promise<void>;

/** An attempt that takes longer gives up its place: its endpoint may hang. */
const stalledMs = 1_000;
/** The same while others wait and all places, or all of its business, are taken. */
const crowdedMs = 100;
const sweepMs = 100;
/** What has waited longer here is given back: its endpoint may be another by now. */
const waitMsMax = 3_000;
/** More businesses than these are not remembered while they have nothing here. */
const businessesMax = 10_000;

interface UnderWay extends Held {
  readonly startedMs: number;
  readonly isUnproven: boolean;
  isStalled: boolean;
  isAnswered: boolean;
}

/**
 * The deliveries that are leased to this process, from the lease to the end of their attempts.
 * Businesses take turns for the places, and so do a business's endpoints. An endpoint begins with
 * few attempts at once and gets more as it answers; those that have not answered yet hold at most
 * half of the places, in all and of their business; what hangs loses its place after a second, or
 * a tenth of one when others wait for it. So an endpoint that hangs never makes others wait for
 * long, and a process that knows nobody yet is careful.
 */
export class Dispatcher {
  /** Wakes whoever claims. */
  readonly pause = new Pause();
  /** Something is due and there was no room for it here. */
  backlog = false;
  /** How often something was left to claims: one that began to look before may not have seen it. */
  left = 0;
  readonly #shares: Shares;
  readonly #businesses = new Map<string, Business>();
  /** Businesses with something waiting; whose turn is next comes first. */
  readonly #waiting = new Map<string, Business>();
  /** In the order in which they were begun. */
  readonly #underWay = new Set<UnderWay>();
  readonly #held: Record<Lane, number> = { QUICK: 0, NEW: 0, SLOW: 0 };
  #places = 0;
  #unproven = 0;
  #stalled = 0;
  #attempt: Attempt | undefined;
  #release: (deliveries: readonly ClaimedDelivery[]) => Promise<void> = async () => {};

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /** Gives room, until disposed; what is under way then goes on. `release` gives leases back. */
  open(attempt: Attempt, release: (deliveries: readonly ClaimedDelivery[]) => Promise<void>): AsyncDisposable {
    this.#attempt = attempt;
    this.#release = release;
    const sweeping = setInterval(() => this.#sweep(), sweepMs);
    return {
      [Symbol.asyncDispose]: async () => {
        clearInterval(sweeping);
        this.#attempt = undefined;
        const endpoints = [...this.#businesses.values()].flatMap((business) => [...business.endpoints.values()]);
        await this.#giveBack(endpoints.flatMap(({ waiting }) => waiting.splice(0)));
      },
    };
  }

  /** Nothing is held. */
  get isIdle(): boolean {
    return sumOf(this.#held) === 0;
  }

  /** The room for deliveries to these businesses, or to any. */
  room(businessIds?: readonly string[]): Room {
    const known = businessIds
      ? [...new Set(businessIds)].map((id) => this.#businesses.get(id)).filter((business) => business !== undefined)
      : [...this.#businesses.values()].filter((business) => sumOf(business.held) > 0);
    return roomBeside(this.#shares, this.#held, known, this.#attempt !== undefined);
  }

  /** The room for new events, by their businesses, and the place in it that each has, if any. */
  placesFor(businessIds: readonly string[]): { room: Room; places: (number | undefined)[] } {
    const room = this.room(businessIds);
    return { room, places: placesIn(room, businessIds, this.#businesses) };
  }

  /** Takes deliveries that were leased to this process, and sends them in turn. */
  take(deliveries: readonly ClaimedDelivery[]): void {
    if (!this.#attempt) {
      // They came while this process was stopping. Their leases end by themselves if this fails.
      this.#release(deliveries).catch(() => {});
      return;
    }
    const takenMs = performance.now();
    for (const delivery of deliveries) {
      const endpoint = this.#endpointOf(delivery);
      const held = { delivery, endpoint, takenMs };
      this.#hold(held, 1);
      if (delivery.lane === "SLOW") {
        // It has its place from the claim on, which there are few of.
        this.#begin(held);
        continue;
      }
      endpoint.waiting.push(held);
      endpoint.business.waiting.set(delivery.endpoint_id, endpoint);
      this.#waiting.set(delivery.business_id, endpoint.business);
    }
    this.#beginNext();
  }

  /** Takes those of new deliveries that are leased to this process; others are to be claimed. */
  takeNew(deliveries: readonly NewDelivery[]): void {
    const leased = deliveries.filter((delivery): delivery is ClaimedDelivery => delivery.lease_token !== null);
    this.take(leased);
    if (leased.length === deliveries.length) return;
    this.backlog = true;
    this.left++;
    // Where there is room, maybe since a moment ago, nothing that ends says that there is.
    const hasRoom = ({ lease_token, business_id, endpoint_id }: NewDelivery) => {
      const endpoint = this.#businesses.get(business_id)?.endpoints.get(endpoint_id);
      return lease_token === null && (!endpoint || endpoint.isHalfEmpty);
    };
    if (deliveries.some(hasRoom)) this.pause.wake();
  }

  /** Gives back what waits for an endpoint that has changed or become slow: it is claimed anew. */
  async forget(businessId: string, endpointId: string): Promise<void> {
    const endpoint = this.#businesses.get(businessId)?.endpoints.get(endpointId);
    if (!endpoint) return;
    // What answered may be elsewhere now, or nowhere.
    endpoint.isProven = false;
    if (sumOf(endpoint.held) === 0) endpoint.business.endpoints.delete(endpointId);
    await this.#giveBack(endpoint.waiting.splice(0));
  }

  /** Gives back what has not begun. If the release fails, the leases end by themselves. */
  async #giveBack(given: readonly Held[]): Promise<void> {
    if (given.length === 0) return;
    for (const held of given) this.#hold(held, -1);
    this.backlog = true;
    await this.#release(given.map(({ delivery }) => delivery));
    this.pause.wake();
  }

  #endpointOf({ business_id, endpoint_id }: Pick<ClaimedDelivery, "business_id" | "endpoint_id">): Endpoint {
    const business = this.#businesses.get(business_id) ?? new Business(business_id);
    this.#businesses.set(business_id, business);
    const endpoint = business.endpoints.get(endpoint_id) ?? new Endpoint(business);
    business.endpoints.set(endpoint_id, endpoint);
    return endpoint;
  }

  #hold({ delivery: { lane, business_id, endpoint_id }, endpoint }: Held, count: 1 | -1): void {
    for (const held of [this.#held, endpoint.held, endpoint.business.held]) held[lane] += count;
    // An endpoint that nothing good is known of needs no memory; it may have been deleted.
    const { endpoints } = endpoint.business;
    if (sumOf(endpoint.held) === 0 && !endpoint.isProven) endpoints.delete(endpoint_id);
    // Another process may have deleted them: so many of a business at most are good for anything.
    for (const [id, { held }] of endpoints) {
      if (endpoints.size <= endpointsMax) break;
      if (sumOf(held) === 0) endpoints.delete(id);
    }
    if (sumOf(endpoint.business.held) === 0 && this.#businesses.size > businessesMax) this.#businesses.delete(business_id);
  }

  #beginNext(): void {
    const expired: Held[] = [];
    for (let held = this.#next(); held; held = this.#next()) {
      if (performance.now() - held.takenMs <= waitMsMax) this.#begin(held);
      else expired.push(held);
    }
    this.#giveBack(expired).catch(() => {});
  }

  /** Takes the next that may begin from those who wait; each one's turn passes to its neighbour. */
  #next(): Held | undefined {
    if (!this.#attempt || this.#places >= this.#shares.total) return undefined;
    for (const [businessId, business] of this.#waiting) {
      const held = this.#nextOf(business);
      if (business.waiting.size === 0) this.#waiting.delete(businessId);
      if (!held) continue;
      this.#waiting.delete(businessId);
      if (business.waiting.size > 0) this.#waiting.set(businessId, business);
      return held;
    }
    return undefined;
  }

  #nextOf(business: Business): Held | undefined {
    if (business.underWay >= this.#shares.perBusiness) return undefined;
    for (const [endpointId, endpoint] of business.waiting) {
      if (endpoint.waiting.length > 0 && !this.#mayBegin(endpoint)) continue;
      const held = endpoint.waiting.shift();
      business.waiting.delete(endpointId);
      if (endpoint.waiting.length > 0) business.waiting.set(endpointId, endpoint);
      if (held) return held;
    }
    return undefined;
  }

  #mayBegin(endpoint: Endpoint): boolean {
    if (endpoint.underWay >= endpoint.window) return false;
    if (endpoint.isHealthy) return true;
    const { total, perBusiness } = this.#shares;
    const { unproven, stalled } = endpoint.business;
    const isWithinHalf = this.#unproven < total / 2 && unproven < perBusiness / 2;
    return isWithinHalf && this.#stalled < 2 * total && stalled < perBusiness;
  }

  #begin(held: Held): void {
    const { delivery, endpoint } = held;
    const isUnproven = !endpoint.isHealthy;
    const underWay = { ...held, startedMs: performance.now(), isUnproven, isStalled: false, isAnswered: false };
    this.#underWay.add(underWay);
    endpoint.underWay++;
    if (delivery.lane !== "SLOW") this.#occupy(underWay, 1);
    this.#attempt?.(delivery, (pace) => this.#answered(underWay, pace)).then(() => {
      this.#answered(underWay, "LATE");
      this.#hold(held, -1);
      if (this.backlog && endpoint.isHalfEmpty) this.pause.wake();
    });
  }

  #occupy({ endpoint, isUnproven }: UnderWay, count: 1 | -1): void {
    this.#places += count;
    endpoint.business.underWay += count;
    if (!isUnproven) return;
    this.#unproven += count;
    endpoint.business.unproven += count;
  }

  /** Whoever has been under way for long gives up its place to others, though it goes on. */
  #sweep(): void {
    const { total, perBusiness, perEndpoint } = this.#shares;
    const now = performance.now();
    const isFull = this.#places >= total && this.#waiting.size > 0;
    const crowded = new Set([...this.#waiting.values()].filter(({ underWay }) => underWay >= perBusiness));
    for (const underWay of this.#underWay) {
      const { endpoint, startedMs, delivery, isStalled } = underWay;
      if (now - startedMs < crowdedMs) break;
      if (delivery.lane === "SLOW") continue;
      const isLong = now - startedMs >= stalledMs;
      if (isLong) endpoint.window = Math.min(endpoint.window, Math.max(firstWindow, perEndpoint / 4));
      if (isStalled || !(isLong || isFull || crowded.has(endpoint.business))) continue;
      underWay.isStalled = true;
      this.#occupy(underWay, -1);
      this.#stall(endpoint, 1);
    }
    this.#beginNext();
    const late = [...this.#waiting.values()]
      .flatMap(({ waiting }) => [...waiting.values()])
      .filter(({ waiting: [first] }) => first && performance.now() - first.takenMs > waitMsMax);
    this.#giveBack(late.flatMap(({ waiting }) => waiting.splice(0))).catch(() => {});
  }

  #stall(endpoint: Endpoint, count: 1 | -1): void {
    endpoint.stalled += count;
    endpoint.business.stalled += count;
    this.#stalled += count;
  }

  #answered(underWay: UnderWay, pace: Pace): void {
    if (underWay.isAnswered) return;
    underWay.isAnswered = true;
    this.#underWay.delete(underWay);
    const { endpoint, delivery, startedMs } = underWay;
    endpoint.underWay--;
    if (underWay.isStalled) this.#stall(endpoint, -1);
    else if (delivery.lane !== "SLOW") this.#occupy(underWay, -1);
    endpoint.isProven = pace === "IN_TIME";
    if (!endpoint.isProven) endpoint.window = firstWindow;
    else if (performance.now() - startedMs < stalledMs) {
      const { perEndpoint } = this.#shares;
      // What gave up its place held others up until then: a share, but not as large a one.
      const most = underWay.isStalled ? perEndpoint / 4 : perEndpoint;
      endpoint.window = Math.max(endpoint.window, Math.min(2 * endpoint.window, most));
    }
    this.#beginNext();
  }
}
