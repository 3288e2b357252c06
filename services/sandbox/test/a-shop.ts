import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** URLs to which a browser returned, in order. */
  readonly visits: string[];
}

/** Starts a server for the return URLs of payments. */
export async function aShop(): Promise<Shop> {
  const visits: string[] = [];
  const server = createServer((request, response) => {
    if (!request.url?.includes("favicon")) visits.push(request.url ?? "");
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Shop</title><h1>Shop</h1>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
