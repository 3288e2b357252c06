import { once } from "node:events";
import net from "node:net";

/** A request that was begun: its headers and some of its body are there. */
export interface BegunRequest {
  /** Sends the rest; resolves with the status, 0 when the connection broke. */
  finish(): Promise<number>;
}

/** Begins to rename the key's business and keeps the end of the body back. */
export async function beginRename(gatewayUrl: string, key: string, name: string, chunked: boolean): Promise<BegunRequest> {
  const { port, hostname } = new URL(gatewayUrl);
  const body = JSON.stringify({ name });
  const [first, rest] = [body.slice(0, 4), body.slice(4)];
  const inChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    `PATCH /api/v1/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      (chunked ? `Transfer-Encoding: chunked\r\n\r\n${inChunk(first)}` : `Content-Length: ${body.length}\r\n\r\n${first}`),
  );
  return {
    async finish() {
      let answer = "";
      socket.on("data", (chunk) => {
        answer += String(chunk);
      });
      const closed = socket.closed ? undefined : once(socket, "close");
      socket.write(chunked ? `${inChunk(rest)}0\r\n\r\n` : rest);
      await closed;
      return Number(answer.slice(9, 12));
    },
  };
}
