import type { RequestOptions, Transport } from "./transport.ts";

export interface Page<T> {
  readonly items: readonly T[];
  /** Number of items in the list, at most 1000. */
  readonly total: number;
  readonly isLast: boolean;
}

/**
 * A list, newest first. `for await` reads each page when it is needed. Items that are created
 * during an iteration shift the pages, so an item may occur twice. To get each item only once, pass
 * a `created_to` in the past.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #query: Readonly<Record<string, unknown>>;
  readonly #options: RequestOptions | undefined;

  constructor(transport: Transport, path: string, query: object | undefined, options: RequestOptions | undefined) {
    this.#transport = transport;
    this.#path = path;
    this.#query = { ...query };
    this.#options = options;
  }

  /** Reads a page of `limit` items, by default at the `offset` of the query. */
  async page(offset = Number(this.#query["offset"] ?? 0)): Promise<Page<T>> {
    const query = { ...this.#query, ...(offset > 0 && { offset }) };
    const { headers, body } = await this.#transport.send({ method: "GET", path: this.#path, query, options: this.#options });
    const items = body as T[];
    const total = Number(headers.get("x-total-count") ?? items.length);
    return { items, total, isLast: !/rel="?next"?/.test(headers.get("link") ?? "") };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    let offset = Number(this.#query["offset"] ?? 0);
    for (;;) {
      const { items, isLast } = await this.page(offset);
      yield* items;
      if (isLast || items.length === 0) return;
      offset += items.length;
    }
  }
}
