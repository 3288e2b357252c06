import { endpointsMax } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import type { Lane, Room } from "./claim.ts";
import { type Business, type Endpoint, firstWindow, sumOf } from "./endpoint.ts";

/** How many attempts may be under way at once in this process. */
export interface Shares {
  readonly total: number;
  readonly perBusiness: number;
  readonly perEndpoint: number;
}

/** What of each share may be held by, or for, endpoints that are slow. */
const slowPart = 1 / 8;
/** What may wait in memory, in places: a place that comes free never waits for a statement. */
const heldPerPlace = 4;

const slowOf = (places: number) => Math.max(1, Math.floor(places * slowPart));
const quickOf = (held: Record<Lane, number>) => held.QUICK + held.NEW;

/** The room beside what is held in all, and by these businesses. None for a process that stops. */
export function roomBeside(shares: Shares, held: Record<Lane, number>, businesses: readonly Business[], isOpen: boolean): Room {
  const { total, perBusiness } = shares;
  const free = isOpen
    ? {
        total: total * heldPerPlace - sumOf(held),
        fresh: Math.max(0, (total * heldPerPlace) / 2 - held.NEW),
        slow: slowOf(total) - held.SLOW,
      }
    : { total: 0, fresh: 0, slow: 0 };
  const perEndpoint = { fresh: Math.min(2 * firstWindow, free.fresh), slow: slowOf(shares.perEndpoint) };
  const freeOf = ({ heldMax, held, isHealthy }: Endpoint) =>
    Math.max(0, Math.min(heldMax - quickOf(held), isHealthy ? heldMax : free.fresh));
  return {
    free,
    perBusiness: { quick: perBusiness * heldPerPlace, slow: slowOf(perBusiness) },
    perEndpoint,
    endpoints: businesses.flatMap(({ endpoints }) =>
      Array.from(endpoints, ([id, endpoint]) => ({
        id,
        free: freeOf(endpoint),
        free_slow: Math.max(0, perEndpoint.slow - endpoint.held.SLOW),
        is_new: !endpoint.isHealthy,
      })),
    ),
    businesses: businesses.map(({ id, held }) => ({ id, held: quickOf(held), held_slow: held.SLOW })),
  };
}

/**
 * For new events, by their businesses: which place each has among those of its business, counted
 * from one, and undefined where there is no room for its deliveries. A business that we know
 * nothing of here is taken to have as many endpoints as any may.
 */
export function placesIn(
  { free, perBusiness }: Room,
  businessIds: readonly string[],
  businesses: ReadonlyMap<string, Business>,
): (number | undefined)[] {
  const places = new Map<string, number>();
  const left = { ...free };
  return businessIds.map((id) => {
    const business = businesses.get(id);
    const endpoints = [...(business?.endpoints.values() ?? [])];
    const deliveries = endpoints.length || endpointsMax;
    const isNew = endpoints.length === 0 || endpoints.some(({ isHealthy }) => !isHealthy);
    const place = (places.get(id) ?? 0) + 1;
    if (Math.min(left.total, isNew ? left.fresh : left.total) < deliveries) return undefined;
    if (place * deliveries > perBusiness.quick - (business ? quickOf(business.held) : 0)) return undefined;
    left.total -= deliveries;
    if (isNew) left.fresh -= deliveries;
    places.set(id, place);
    return place;
  });
}
