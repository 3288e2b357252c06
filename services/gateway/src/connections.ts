import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { StalledSockets, setBounded } from "@amana/runtime";
import { BoundedCounters } from "./bounded-counters.ts";
import type { Config } from "./config.ts";
import { canonicalCidr, createAddressFilter } from "./key-lease/allowed-ips.ts";
import { connectionsEnded, openConnections } from "./metrics.ts";
import { networkOf } from "./rate-limit/network.ts";
import { TokenBuckets } from "./rate-limit/token-buckets.ts";

interface ConnectionsOptions extends Pick<Config["connectionBounds"], "perNetwork" | "stallMs"> {
  /**
   * Trusted proxies. They are exempt from the limits of a network, because they forward the
   * requests of many networks.
   */
  readonly trustedProxies: readonly string[];
  /**
   * Maximum number of tokens per second and network; 0 for no limit. A connection, a request
   * without a valid key, a group of 100 chunks and each 256 KiB of a static file take a token each.
   * A request beyond the rate limit of its business, or with a failed key look-up, takes a quarter.
   * A burst may take the tokens of `burstSeconds`.
   */
  readonly keylessPerSecond: number;
  /** Networks that have sent a genuine callback. They are exempt from `keylessPerSecond`. */
  readonly proven: ReadonlyMap<string, true>;
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
}

type Reason = "chunks" | "flood" | "network" | "pipelined" | "stalled";

interface Connection {
  /** Undefined if the limits of a network do not apply. */
  readonly network: string | undefined;
  /** The responses that are not completely sent. */
  readonly unsent: Set<ServerResponse>;
  /** Whether `uncount` has reversed the count of this connection. */
  isUncounted: boolean;
}

/**
 * Maximum number of unsent responses on a connection. Callers that pipeline requests send only a
 * few requests at once. The maximum also limits the memory of the requests' headers, which no other
 * limit counts.
 */
const pipelinedMax = 8;
/** Number of checks for stalled responses during `stallMs`. */
const checksPerStall = 6;
const burstSeconds = 5;
/** Time for which the gateway accepts no connections of a network after a flood. */
const floodPauseMs = 5_000;
const pausedNetworksMax = 10_000;

/**
 * Tracks the connections of the gateway and the unsent responses of each connection, because Node
 * does not expose them. Closes connections beyond the limit of their network, connections with too
 * many pipelined requests, and connections whose caller does not read its response.
 *
 * Limits the connections of each network, and its requests without a valid key. A rejected request
 * takes as much CPU time as an accepted GET, and Node parses all bytes that one read returned (up
 * to 64 KiB), even if the gateway closes the connection meanwhile. If a network exceeds the limit,
 * the gateway therefore closes all connections of the network and refuses new ones for
 * `floodPauseMs`. Node does not read the bytes that arrive on a closed connection.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #byNetwork = new BoundedCounters();
  /** Tokens for connections, requests, groups of small chunks and large files, by network. */
  readonly #keyless: TokenBuckets | undefined;
  /** Times at which the pauses after floods end, by network. */
  readonly #pausedUntilMs = new Map<string, number>();
  readonly #nowMs: () => number;
  readonly #stalled: StalledSockets;
  readonly #options: ConnectionsOptions;
  readonly #isProxy: (address: string) => boolean;
  #isStopping = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    const { keylessPerSecond: perSecond, nowMs = () => performance.now() } = options;
    this.#nowMs = nowMs;
    if (perSecond > 0) this.#keyless = new TokenBuckets({ perSecond, burst: burstSeconds * perSecond, nowMs });
    this.#stalled = new StalledSockets(options.stallMs, options.nowMs);
    this.#isProxy = createAddressFilter(options.trustedProxies.map((entry) => canonicalCidr(entry) ?? entry));
  }

  watch(server: Server): void {
    server.on("connection", (socket) => {
      const { remoteAddress = "" } = socket;
      const network = this.#isProxy(remoteAddress) ? undefined : networkOf(remoteAddress);
      const refusal = network === undefined ? undefined : this.#admit(socket, network);
      if (refusal) {
        this.end(socket, refusal);
        return;
      }
      const unsent = new Set<ServerResponse>();
      this.#open.set(socket, { network, unsent, isUncounted: false });
      openConnections.set(this.#open.size);
      socket.once("close", () => {
        // After a CONNECT, Node emits no "close" for the responses that wait for an earlier one.
        for (const response of unsent) response.destroy();
        this.#open.delete(socket);
        openConnections.set(this.#open.size);
      });
      this.count(socket);
    });
    // Node emits `checkExpectation` instead of `request` for a request with an unknown `Expect`
    // header.
    for (const event of ["request", "checkExpectation"]) this.#trackBefore(server, event);
    const check = setInterval(() => this.endStalled(), this.#options.stallMs / checksPerStall).unref();
    server.once("close", () => clearInterval(check));
  }

  /**
   * Counts the request and tracks the response of each event, and then calls the present listeners
   * of the event. Does not call them after the connection has ended, because Node emits events for
   * all requests that arrived in one read.
   */
  #trackBefore(server: Server, event: string): void {
    const listeners = server.listeners(event);
    server.removeAllListeners(event);
    server.on(event, ({ socket }: IncomingMessage, response: ServerResponse, ...rest: unknown[]) => {
      this.count(socket);
      if (socket.destroyed) return;
      if (this.#isStopping) response.shouldKeepAlive = false;
      const unsent = this.#open.get(socket)?.unsent;
      unsent?.add(response);
      response.once("close", () => unsent?.delete(response));
      if (unsent && unsent.size > pipelinedMax) this.end(socket, "pipelined");
      else for (const listener of listeners) listener.call(server, response.req, response, ...rest);
    });
  }

  /**
   * Counts the connection for its network until the connection closes. Returns the reason for a
   * refusal.
   */
  #admit(socket: Socket, network: string): Reason | undefined {
    const { perNetwork } = this.#options;
    if (this.#isPaused(network)) return "flood";
    if (perNetwork === 0) return undefined;
    const bounds = [{ key: network, max: perNetwork }];
    if (this.#byNetwork.reserve(bounds, 1)) return "network";
    socket.once("close", () => this.#byNetwork.add(bounds, -1));
    return undefined;
  }

  /**
   * Counts a connection, a request, a group of small chunks or a part of a static file for the
   * network of the connection. Beyond the limit, closes all connections of the network.
   */
  count(socket: Socket, tokens = 1): void {
    const network = this.#open.get(socket)?.network;
    if (network === undefined || !this.#keyless || this.#options.proven.has(network)) return;
    if (this.#keyless.draw(network, tokens).allowed || this.#isPaused(network)) return;
    setBounded(this.#pausedUntilMs, network, this.#nowMs() + floodPauseMs, pausedNetworksMax);
    for (const [other, connection] of this.#open) if (connection.network === network) this.end(other, "flood");
  }

  #isPaused(network: string): boolean {
    return (this.#pausedUntilMs.get(network) ?? 0) > this.#nowMs();
  }

  /**
   * Reverses the count of a request with a valid key or with a failed key look-up, and of its
   * connection.
   */
  uncount({ socket }: IncomingMessage): void {
    const connection = this.#open.get(socket);
    if (connection?.network === undefined) return;
    this.#keyless?.giveBack(connection.network, connection.isUncounted ? 1 : 2);
    connection.isUncounted = true;
  }

  /**
   * Closes each connection whose caller has read no byte of a response for `stallMs`. Must be
   * called several times during `stallMs`.
   */
  endStalled(): void {
    for (const socket of this.#open.keys()) if (this.#stalled.isStalled(socket)) this.end(socket, "stalled");
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
    for (const socket of this.#open.keys()) {
      const last = this.#unsentOf(socket).at(-1);
      if (last) closeAfter(socket, last);
    }
  }

  /** Closes connections on which no completely received request waits for its response. */
  closeWithoutRequest(): void {
    for (const socket of this.#open.keys()) if (!this.#unsentOf(socket).some(hasWholeRequest)) socket.destroy();
  }

  #unsentOf(socket: Socket): ServerResponse[] {
    return [...(this.#open.get(socket)?.unsent ?? [])];
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
