import type { Random } from "../random.ts";

/** A word that is nowhere by chance, and where it may be found. */
export interface Canary {
  readonly name: string;
  readonly word: string;
  /** Names of places, or how they begin. */
  readonly allowed: readonly string[];
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Makes words to be looked for and remembers each. */
export class Canaries {
  readonly made: Canary[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /**
   * Letters and digits only, so that it passes wherever a name, a number or a part of an address
   * may stand.
   */
  word(name: string, ...allowed: string[]): string {
    const word = `zq${Array.from({ length: 18 }, () => letters[this.#random.integer(0, letters.length - 1)]).join("")}`;
    this.made.push({ name, word, allowed });
    return word;
  }

  digits(name: string, count: number, ...allowed: string[]): string {
    const word = Array.from({ length: count }, (_, i) => this.#random.integer(i === 0 ? 1 : 0, 9)).join("");
    this.made.push({ name, word, allowed });
    return word;
  }

  /** Something that the system made itself. */
  watch(name: string, word: string, ...allowed: string[]): string {
    this.made.push({ name, word, allowed });
    return word;
  }
}
