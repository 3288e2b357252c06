import { List } from "./list.ts";
import type { Request, RequestOptions, Transport } from "./transport.ts";

/** What the generated resources are made of. */
export abstract class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected async call<T>(method: Request["method"], path: string, body?: object, options?: RequestOptions): Promise<T> {
    return (await this.#transport.send({ method, path, body, options })).body as T;
  }

  protected pages<T>(path: string, query: object | undefined, options: RequestOptions | undefined): List<T> {
    return new List(this.#transport, path, query, options);
  }

  protected async redirect(method: Request["method"], path: string, options?: RequestOptions): Promise<{ location: string }> {
    const { headers } = await this.#transport.send({ method, path, options, redirects: true });
    return { location: headers.get("location") ?? "" };
  }
}

/** A part of a path. Empty, or made of dots, it would name another thing than was meant. */
export function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`${JSON.stringify(value)} is no id`);
  return encodeURIComponent(value);
}
