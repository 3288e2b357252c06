import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { ConnectError } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { createBodyReader } from "./body.ts";

/**
 * Starts a server that reads request bodies. It responds with the body's length, or with the
 * error's code and the number of its refusals.
 */
async function startServer(unfinishedBytesMax: number): Promise<number> {
  const readBody = createBodyReader(unfinishedBytesMax);
  const server = http.createServer((request, response) => {
    readBody(request).then(
      (body) => response.end(`${body.length} bytes`),
      (error) => response.end(error instanceof ConnectError ? `error ${error.code} ${error.details.length}` : "other"),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const chunk = (bytes: Uint8Array) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

function connect(port: number): net.Socket {
  const socket = net.connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => {});
}

async function responseOn(socket: net.Socket): Promise<string> {
  const [data] = (await once(socket, "data")) as [Buffer];
  return data.toString().split("\r\n\r\n")[1] ?? "";
}

test("createBodyReader reads a complete body from many one-byte chunks", async () => {
  const socket = connect(await startServer(10_000));
  socket.write(head + chunk(Buffer.of(65)).toString().repeat(3_000));
  socket.write("0\r\n\r\n");
  expect(await responseOn(socket)).toBe("3000 bytes");
});

test("createBodyReader closes the connection when a body has more than 10 000 chunks", async () => {
  const socket = connect(await startServer(10_000_000));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(head + chunk(Buffer.of(65)).toString().repeat(10_001));
  await closed;
});

test("createBodyReader rejects a body while the bytes of unfinished bodies exceed the limit, and accepts bodies again after that", async () => {
  const port = await startServer(200_000);
  const largeSockets = [connect(port), connect(port)];
  for (const socket of largeSockets) {
    socket.write(head);
    socket.write(chunk(Buffer.alloc(120_000)));
  }
  const [rejectedSocket, text] = await Promise.race(
    largeSockets.map(async (socket) => [socket, await responseOn(socket)] as const),
  );
  // 8 is the code resource_exhausted. 1 is the number of refusals in the error. A refusal lets the
  // caller retry.
  expect(text).toBe("error 8 1");
  for (const socket of largeSockets.filter((socket) => socket !== rejectedSocket)) {
    socket.write("0\r\n\r\n");
    expect(await responseOn(socket)).toBe("120000 bytes");
  }
  const nextSocket = connect(port);
  nextSocket.write(head);
  nextSocket.write(chunk(Buffer.alloc(90_000)));
  nextSocket.write("0\r\n\r\n");
  expect(await responseOn(nextSocket)).toBe("90000 bytes");
});

test("createBodyReader accepts small bodies even if unfinished large bodies have used up the byte limit for large bodies", async () => {
  const port = await startServer(40_000);
  for (let i = 0; i < 2; i++) {
    const large = connect(port);
    large.write(head);
    large.write(chunk(Buffer.alloc(20_000)));
  }
  // Waits until the server has read the large bodies. If the server read the small body first, the
  // test would also pass without the additional quarter of the limit, which only small bodies use.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const small = connect(port);
  small.write(head);
  small.write(chunk(Buffer.alloc(5_000)));
  small.write("0\r\n\r\n");
  expect(await responseOn(small)).toBe("5000 bytes");
});
