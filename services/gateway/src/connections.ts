import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { StalledSockets } from "@amana/runtime";
import { addressesOf, canonicalCidr } from "./key-lease/allowed-ips.ts";
import { connectionsEnded, openConnections } from "./metrics.ts";
import { networkOf } from "./rate-limit/network.ts";

interface ConnectionsOptions {
  /** Maximum number of open connections of one network; 0 for no limit. */
  readonly perNetwork: number;
  /** Maximum time in which the client reads nothing of a response. */
  readonly stallMs: number;
  /** Proxies, whose connections carry the requests of many networks. */
  readonly trustedProxies: readonly string[];
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
}

type Reason = "chunks" | "network" | "pipelined" | "stalled";

/** Maximum number of unanswered requests on a connection. Clients that pipeline send only a few. */
const pipelinedMax = 32;
/** Number of checks for stalled responses during `stallMs`. */
const checksPerStall = 6;

/**
 * Tracks the connections of the gateway and their unsent responses, which Node does not expose.
 * Ends connections of a network that has too many, connections with too many pipelined requests,
 * and connections whose client does not read its response.
 */
export class Connections {
  readonly #waiting = new Map<Socket, Set<ServerResponse>>();
  readonly #byNetwork = new Map<string, number>();
  readonly #stalled: StalledSockets;
  readonly #options: ConnectionsOptions;
  readonly #isProxy: (address: string) => boolean;
  #ending = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#stalled = new StalledSockets(options.stallMs, options.nowMs);
    this.#isProxy = addressesOf(options.trustedProxies.map((one) => canonicalCidr(one) ?? one));
  }

  watch(server: Server): void {
    server.on("connection", (socket) => {
      if (!this.#hasRoomFor(socket)) {
        this.end(socket, "network");
        return;
      }
      this.#waiting.set(socket, new Set());
      openConnections.set(this.#waiting.size);
      socket.once("close", () => {
        this.#waiting.delete(socket);
        openConnections.set(this.#waiting.size);
      });
    });
    // Before Fastify's own listener, which may answer at once.
    server.prependListener("request", ({ socket }, response) => {
      if (this.#ending) response.shouldKeepAlive = false;
      const answers = this.#waiting.get(socket);
      answers?.add(response);
      response.once("close", () => answers?.delete(response));
      if (answers && answers.size > pipelinedMax && !socket.destroyed) this.end(socket, "pipelined");
    });
    const check = setInterval(() => this.endStalled(), this.#options.stallMs / checksPerStall).unref();
    server.once("close", () => clearInterval(check));
  }

  /** Counts the connection towards its network until it closes. */
  #hasRoomFor(socket: Socket): boolean {
    const { remoteAddress = "" } = socket;
    const { perNetwork } = this.#options;
    if (perNetwork === 0 || this.#isProxy(remoteAddress)) return true;
    const network = networkOf(remoteAddress);
    const open = this.#byNetwork.get(network) ?? 0;
    if (open >= perNetwork) return false;
    this.#byNetwork.set(network, open + 1);
    socket.once("close", () => {
      const left = (this.#byNetwork.get(network) ?? 1) - 1;
      if (left === 0) this.#byNetwork.delete(network);
      else this.#byNetwork.set(network, left);
    });
    return true;
  }

  /** Ends connections whose response has made no progress in all checks during `stallMs`. */
  endStalled(): void {
    for (const socket of this.#waiting.keys()) if (this.#stalled.isStalled(socket)) this.end(socket, "stalled");
  }

  /** Closes the connection at once. */
  end(socket: Socket, reason: Reason): void {
    connectionsEnded.inc({ reason });
    socket.destroy();
  }

  /** Ends the connection with the last answer to a request that came whole; false without one. */
  endWithAnswer(socket: Socket): boolean {
    const last = this.#answers(socket).findLast(isWhole);
    if (last) endWith(socket, last);
    return last !== undefined;
  }

  /** From now on each connection ends with its next answer. */
  endWithAnswers(): void {
    this.#ending = true;
    for (const socket of this.#waiting.keys()) {
      const last = this.#answers(socket).at(-1);
      if (last) endWith(socket, last);
    }
  }

  /** Cuts off those on which no request has come whole. */
  cutOffUnfinished(): void {
    for (const socket of this.#waiting.keys()) if (!this.#answers(socket).some(isWhole)) socket.destroy();
  }

  #answers(socket: Socket): ServerResponse[] {
    return [...(this.#waiting.get(socket) ?? [])];
  }
}

const isWhole = ({ req }: ServerResponse) => req.complete;

function endWith(socket: Socket, answer: ServerResponse): void {
  if (!answer.shouldKeepAlive) return;
  answer.shouldKeepAlive = false;
  // Its headers may be out already, and promise to go on.
  answer.once("close", () => socket.destroySoon());
}
