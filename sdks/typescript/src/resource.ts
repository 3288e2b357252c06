import { List } from "./list.ts";
import type { Request, RequestOptions, Transport } from "./transport.ts";

/** Base of the generated resources. */
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

/** Encodes an id for a path. Rejects the ids "", "." and "..", which would change the path. */
export function segment(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`${JSON.stringify(value)} is not a valid id`);
  return encodeURIComponent(value);
}
