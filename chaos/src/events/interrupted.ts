import { sleep } from "@amana/runtime";
import type { Pool } from "pg";

/**
 * Which deliveries were leased while something happened that may lose the record of a POST: these
 * alone may arrive twice, once more for each time.
 */
export class Interrupted {
  readonly #webhooks: Pool;
  readonly #times = new Map<string, number>();
  readonly #tokens = new Set<string>();
  #everywhere = 0;

  constructor(webhooks: Pool) {
    this.#webhooks = webhooks;
  }

  /** While the trouble goes on, and at its end, `look` is called. */
  async by<T>(trouble: (look: () => Promise<void>) => Promise<T>): Promise<T> {
    const leased = new Set<string>();
    try {
      return await trouble(async () => {
        for (const delivery of await this.#leased()) leased.add(delivery);
      });
    } finally {
      for (const delivery of leased) this.#times.set(delivery, (this.#times.get(delivery) ?? 0) + 1);
    }
  }

  times(eventId: string, endpointId: string): number {
    return this.#everywhere + (this.#times.get(`${eventId} ${endpointId}`) ?? 0);
  }

  /** A replay was asked for: each delivery may come once more. */
  explainOneMore(): void {
    this.#everywhere++;
  }

  /** Ends the leases that were seen, as time would in half a minute. */
  async endLeases(): Promise<void> {
    await this.#webhooks.query(
      "update delivery set leased_until = now() where status = 'PENDING' and leased_until > now() and lease_token = any($1)",
      [[...this.#tokens]],
    );
  }

  /** By how many deliveries the faults were felt, each as often as it was. */
  get sum(): number {
    return [...this.#times.values()].reduce((sum, times) => sum + times, 0);
  }

  /** Waits for a database that is away: nothing changes meanwhile. */
  async #leased(): Promise<string[]> {
    for (;;) {
      try {
        const { rows } = await this.#webhooks.query<{ delivery: string; token: string }>(
          `select event_id || ' ' || endpoint_id as delivery, lease_token as token
           from delivery where status = 'PENDING' and lease_token is not null`,
        );
        for (const { token } of rows) this.#tokens.add(token);
        return rows.map(({ delivery }) => delivery);
      } catch {
        await sleep(100);
      }
    }
  }
}
