import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 50;
const answerTimeoutMs = 2_000;
const metadataRequest = 3;

/**
 * Waits until the broker answers a metadata request with at least one broker in it: an open port
 * comes earlier and does not yet mean that topics can be created. Answers false after `timeoutMs`,
 * or when `goesOn` says no.
 */
export async function untilKafkaAnswers(port: number, timeoutMs: number, goesOn: () => boolean): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs && goesOn()) {
    if ((await brokerCount(port)) > 0) return true;
    await delay(pollMs);
  }
  return false;
}

/**
 * Kafka protocol, request header 1 and Metadata version 1, with an empty list of topics. The answer
 * begins with its length, the correlation id and the number of brokers, each of 4 bytes. 0 when
 * there is no answer.
 */
function brokerCount(port: number): Promise<number> {
  const client = Buffer.from("amana");
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + client.length + 4);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(metadataRequest, 4);
  request.writeInt16BE(1, 6);
  request.writeInt16BE(client.length, 12);
  client.copy(request, 14);

  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const socket = connect({ port, host: "127.0.0.1", timeout: answerTimeoutMs }, () => socket.write(request));
    const end = (count: number) => {
      socket.destroy();
      resolve(count);
    };
    socket.on("data", (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length >= 12) end(answer.readInt32BE(8));
    });
    socket.on("timeout", () => end(0));
    socket.on("error", () => end(0));
    socket.on("close", () => end(0));
  });
}
