/** Child process with a server for each endpoint. Each endpoint has its own port and can hang. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { nowMs, serveRequests } from "./child.ts";
import { readEventNumber } from "./commit-event.ts";

export type ReceiversRequest =
  | { readonly open: number }
  /** Makes these endpoints hang. All other endpoints respond. */
  | { readonly hang: readonly number[] }
  /** Requests the arrivals of this run since the previous request of this kind. */
  | { readonly arrivalsOfRun: number };

export interface ReceiversReply {
  readonly ports: readonly number[];
  /** Three numbers for each arrival: event index, endpoint index, time in milliseconds. */
  readonly arrivals: Float64Array;
}

const ports: number[] = [];
const arrivals = new Map<number, number[]>();
let hanging = new Set<number>();

async function openEndpoint(): Promise<void> {
  const endpoint = ports.length;
  const server = createServer((request, response) => {
    const atMs = nowMs();
    request.resume();
    request.on("end", () => {
      if (hanging.has(endpoint)) return;
      const { run, index } = readEventNumber(String(request.headers["webhook-id"]));
      const runArrivals = arrivals.get(run) ?? [];
      arrivals.set(run, runArrivals);
      runArrivals.push(index, endpoint, atMs);
      response.writeHead(200).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports.push((server.address() as AddressInfo).port);
}

serveRequests(async (request: ReceiversRequest): Promise<ReceiversReply> => {
  if ("open" in request) for (let i = 0; i < request.open; i++) await openEndpoint();
  if ("hang" in request) hanging = new Set(request.hang);
  if (!("arrivalsOfRun" in request)) return { ports, arrivals: new Float64Array() };
  const newArrivals = Float64Array.from(arrivals.get(request.arrivalsOfRun) ?? []);
  arrivals.delete(request.arrivalsOfRun);
  return { ports, arrivals: newArrivals };
});
