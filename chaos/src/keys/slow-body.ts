import { once } from "node:events";
import net from "node:net";

/** A request whose headers and first bytes of the body were sent. */
export interface StartedRequest {
  /** Sends the end of the body. Returns the status of the response, or 0 if none arrives. */
  finish(): Promise<number>;
}

/** Starts a request that renames the business of `key`. Does not send the end of the body yet. */
export async function startRename(gatewayUrl: string, key: string, name: string, chunked: boolean): Promise<StartedRequest> {
  const { port, hostname } = new URL(gatewayUrl);
  const body = JSON.stringify({ name });
  const [bodyStart, bodyEnd] = [body.slice(0, 4), body.slice(4)];
  const formatChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    `PATCH /api/v1/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      (chunked
        ? `Transfer-Encoding: chunked\r\n\r\n${formatChunk(bodyStart)}`
        : `Content-Length: ${body.length}\r\n\r\n${bodyStart}`),
  );
  return {
    async finish() {
      let response = "";
      socket.on("data", (chunk) => {
        response += String(chunk);
      });
      // `once` of node:events would reject if the killed gateway resets the connection.
      const closed = socket.closed ? undefined : new Promise((resolve) => socket.once("close", resolve));
      socket.write(chunked ? `${formatChunk(bodyEnd)}0\r\n\r\n` : bodyEnd);
      await closed;
      return Number(response.slice(9, 12));
    },
  };
}
