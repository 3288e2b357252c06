import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { StalledSockets } from "@amana/runtime";
import { BoundedCounters } from "./bounded-counters.ts";
import type { Config } from "./config.ts";
import { canonicalCidr, createAddressFilter } from "./key-lease/allowed-ips.ts";
import { connectionsEnded, openConnections } from "./metrics.ts";
import { networkOf } from "./rate-limit/network.ts";

interface ConnectionsOptions extends Pick<Config["connectionBounds"], "perNetwork" | "stallMs"> {
  /**
   * Trusted proxies. They are exempt from `perNetwork`, because they forward the requests of many
   * networks.
   */
  readonly trustedProxies: readonly string[];
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
}

type Reason = "chunks" | "network" | "pipelined" | "stalled";

/**
 * Maximum number of unsent responses on a connection. Callers that pipeline requests send only a
 * few requests at once. The maximum also limits the memory of the requests' headers, which no other
 * limit counts.
 */
const pipelinedMax = 8;
/** Number of checks for stalled responses during `stallMs`. */
const checksPerStall = 6;

/**
 * Tracks the connections of the gateway and the unsent responses of each connection, because Node
 * does not expose them. Closes connections beyond the limit of their network, connections with too
 * many pipelined requests, and connections whose caller does not read its response.
 */
export class Connections {
  /** The responses of each open connection that are not completely sent. */
  readonly #unsent = new Map<Socket, Set<ServerResponse>>();
  readonly #byNetwork = new BoundedCounters();
  readonly #stalled: StalledSockets;
  readonly #options: ConnectionsOptions;
  readonly #isProxy: (address: string) => boolean;
  #isStopping = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#stalled = new StalledSockets(options.stallMs, options.nowMs);
    this.#isProxy = createAddressFilter(options.trustedProxies.map((entry) => canonicalCidr(entry) ?? entry));
  }

  watch(server: Server): void {
    server.on("connection", (socket) => {
      if (!this.#admit(socket)) {
        this.end(socket, "network");
        return;
      }
      const responses = new Set<ServerResponse>();
      this.#unsent.set(socket, responses);
      openConnections.set(this.#unsent.size);
      socket.once("close", () => {
        // After a CONNECT, Node emits no "close" for the responses that wait for an earlier one.
        for (const response of responses) response.destroy();
        this.#unsent.delete(socket);
        openConnections.set(this.#unsent.size);
      });
    });
    // Node emits `checkExpectation` instead of `request` for a request with an unknown `Expect`
    // header.
    for (const event of ["request", "checkExpectation"]) this.#trackBefore(server, event);
    const check = setInterval(() => this.endStalled(), this.#options.stallMs / checksPerStall).unref();
    server.once("close", () => clearInterval(check));
  }

  /**
   * Tracks the response of each event, and then calls the present listeners of the event. Does not
   * call them after the connection has ended, because Node emits events for all requests that
   * arrived in one read.
   */
  #trackBefore(server: Server, event: string): void {
    const listeners = server.listeners(event);
    server.removeAllListeners(event);
    server.on(event, ({ socket }: IncomingMessage, response: ServerResponse, ...rest: unknown[]) => {
      if (socket.destroyed) return;
      if (this.#isStopping) response.shouldKeepAlive = false;
      const responses = this.#unsent.get(socket);
      responses?.add(response);
      response.once("close", () => responses?.delete(response));
      if (responses && responses.size > pipelinedMax) this.end(socket, "pipelined");
      else for (const listener of listeners) listener.call(server, response.req, response, ...rest);
    });
  }

  /**
   * Counts the connection for its network until the connection closes. Returns false if the network
   * has reached its limit.
   */
  #admit(socket: Socket): boolean {
    const { remoteAddress = "" } = socket;
    const { perNetwork } = this.#options;
    if (perNetwork === 0 || this.#isProxy(remoteAddress)) return true;
    const bounds = [{ key: networkOf(remoteAddress), max: perNetwork }];
    if (this.#byNetwork.reserve(bounds, 1)) return false;
    socket.once("close", () => this.#byNetwork.add(bounds, -1));
    return true;
  }

  /**
   * Closes each connection whose caller has read no byte of a response for `stallMs`. Must be
   * called several times during `stallMs`.
   */
  endStalled(): void {
    for (const socket of this.#unsent.keys()) if (this.#stalled.isStalled(socket)) this.end(socket, "stalled");
  }

  /** Closes the connection immediately and counts the reason. */
  end(socket: Socket, reason: Reason): void {
    connectionsEnded.inc({ reason });
    socket.destroy();
  }

  /**
   * Closes the connection after the response to the last request that has arrived completely.
   * Returns false if no completely received request waits for its response.
   */
  closeAfterResponse(socket: Socket): boolean {
    const last = this.#unsentOf(socket).findLast(hasWholeRequest);
    if (last) closeAfter(socket, last);
    return last !== undefined;
  }

  /**
   * Closes each connection after the responses to all requests that have arrived on it. An idle
   * connection closes after the response to its next request.
   */
  closeAllAfterResponse(): void {
    this.#isStopping = true;
    for (const socket of this.#unsent.keys()) {
      const last = this.#unsentOf(socket).at(-1);
      if (last) closeAfter(socket, last);
    }
  }

  /** Closes connections on which no completely received request waits for its response. */
  closeWithoutRequest(): void {
    for (const socket of this.#unsent.keys()) if (!this.#unsentOf(socket).some(hasWholeRequest)) socket.destroy();
  }

  #unsentOf(socket: Socket): ServerResponse[] {
    return [...(this.#unsent.get(socket) ?? [])];
  }
}

const hasWholeRequest = ({ req }: ServerResponse) => req.complete;

function closeAfter(socket: Socket, response: ServerResponse): void {
  if (!response.shouldKeepAlive) return;
  response.shouldKeepAlive = false;
  // If the headers of the response are already sent with keep-alive, Node would keep the connection
  // open.
  response.once("close", () => socket.destroySoon());
}
