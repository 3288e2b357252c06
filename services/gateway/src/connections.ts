import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The connections of the gateway and the answers they wait for, which Node keeps to itself. */
export class Connections {
  readonly #waiting = new Map<Socket, Set<ServerResponse>>();
  #ending = false;

  watch(server: Server): void {
    server.on("connection", (socket) => {
      this.#waiting.set(socket, new Set());
      socket.once("close", () => this.#waiting.delete(socket));
    });
    // Before Fastify's own listener, which may answer at once.
    server.prependListener("request", ({ socket }, response) => {
      if (this.#ending) response.shouldKeepAlive = false;
      const answers = this.#waiting.get(socket);
      answers?.add(response);
      response.once("close", () => answers?.delete(response));
    });
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
