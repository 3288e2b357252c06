import type { ClaimedDelivery, Lane } from "./claim.ts";

/** An endpoint that has not answered in time yet is given so many attempts at once. */
export const firstWindow = 2;

/** A delivery that waits here for its turn, or is under way. */
export interface Held {
  readonly delivery: ClaimedDelivery;
  readonly endpoint: Endpoint;
  readonly takenMs: number;
}

/** What this process knows of an endpoint, and holds for it. */
export class Endpoint {
  readonly business: Business;
  readonly waiting: Held[] = [];
  readonly held: Record<Lane, number> = { QUICK: 0, NEW: 0, SLOW: 0 };
  underWay = 0;
  stalled = 0;
  /** Attempts that may be under way at once: grows with each that is answered in time. */
  window = firstWindow;
  isProven = false;

  constructor(business: Business) {
    this.business = business;
  }

  get isHealthy(): boolean {
    return this.isProven && this.stalled === 0;
  }

  get heldMax(): number {
    return 2 * this.window;
  }

  /** So much room is worth a claim. */
  get isHalfEmpty(): boolean {
    return sumOf(this.held) * 2 <= this.heldMax;
  }
}

/** The same of a business. */
export class Business {
  readonly id: string;
  readonly endpoints = new Map<string, Endpoint>();
  /** Endpoints with something waiting; whose turn is next comes first. */
  readonly waiting = new Map<string, Endpoint>();
  readonly held: Record<Lane, number> = { QUICK: 0, NEW: 0, SLOW: 0 };
  underWay = 0;
  unproven = 0;
  stalled = 0;

  constructor(id: string) {
    this.id = id;
  }
}

export const sumOf = ({ QUICK, NEW, SLOW }: Record<Lane, number>): number => QUICK + NEW + SLOW;
