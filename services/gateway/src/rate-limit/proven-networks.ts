const networksMax = 100;

/**
 * Where signed callbacks came from. A flood of forged ones shares limits and connections with no network in here, and
 * nobody gets in without the provider's secret. The one that proved itself longest ago is forgotten first.
 */
export class ProvenNetworks {
  readonly #networks = new Set<string>();

  add(network: string): void {
    this.#networks.delete(network);
    if (this.#networks.size >= networksMax) this.#networks.delete(this.#networks.keys().next().value as string);
    this.#networks.add(network);
  }

  has(network: string): boolean {
    return this.#networks.has(network);
  }
}
