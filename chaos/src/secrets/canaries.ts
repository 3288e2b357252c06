import type { Random } from "../random.ts";

/** A unique text, and the places that may contain it. */
export interface Canary {
  readonly name: string;
  readonly text: string;
  /** Names, or prefixes of names, of the places that may contain the text. */
  readonly allowed: readonly string[];
}

const characters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Creates canaries and keeps a list of them. */
export class Canaries {
  readonly created: Canary[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Creates a canary of letters and digits, which is valid in names, numbers and addresses. */
  createText(name: string, ...allowed: string[]): string {
    const text = `zq${Array.from({ length: 18 }, () => characters[this.#random.integer(0, characters.length - 1)]).join("")}`;
    this.created.push({ name, text, allowed });
    return text;
  }

  /** Creates a canary of `count` digits. */
  createDigits(name: string, count: number, ...allowed: string[]): string {
    const text = Array.from({ length: count }, (_, i) => this.#random.integer(i === 0 ? 1 : 0, 9)).join("");
    this.created.push({ name, text, allowed });
    return text;
  }

  /** Adds a value as a canary that the system has created, such as a token. */
  add(name: string, text: string, ...allowed: string[]): string {
    this.created.push({ name, text, allowed });
    return text;
  }
}
