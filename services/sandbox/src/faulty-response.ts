import { sleep } from "@amana/runtime";
import type { FastifyReply } from "fastify";
import type { Mode } from "./faults.ts";

/** The parts of a call that a fault can combine. */
export interface CallParts {
  /** Executes the call and returns the response body. Sets the reply's status if it is not 200. */
  effect(): object;
  /** Returns the body of a regular error with this code, and sets the reply's status. */
  refusal(code: string): object;
  /** Schedules the effect after a delay, independent of the connection. */
  scheduleEffect?(ms: number): void;
}

/** Time after which a connection without a response is closed. Callers time out earlier. */
const holdMs = 60_000;

const htmlPage = "<!doctype html><html><head><title>Maintenance</title></head><body><h1>Service unavailable</h1></body></html>";

/** Responds to a call as the mode of the fault requires. The call takes effect at most once. */
export async function respondWithFault(reply: FastifyReply, { name, value }: Mode, call: CallParts): Promise<unknown> {
  switch (name) {
    case "timeout_before":
      return holdOpen(reply);
    case "http_500":
    case "http_503":
    case "html_200":
      return reply
        .code(Number(name.slice(5)))
        .type("text/html")
        .send(htmlPage);
    case "error":
      return reply.send(call.refusal(value));
    case "late":
      call.scheduleEffect?.(Number(value));
      return holdOpen(reply);
    case "error_late":
      call.scheduleEffect?.(Number(value));
      return reply.send(call.refusal("7"));
  }

  const body = call.effect();
  switch (name) {
    case "timeout_after":
      return holdOpen(reply);
    case "reset_after":
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return reply;
    case "truncated":
      return sendHalf(reply, body);
    case "slow":
      await waitWhileConnected(reply, Number(value));
      return reply.send(body);
    default:
      return reply.send(body);
  }
}

function holdOpen(reply: FastifyReply): FastifyReply {
  reply.hijack();
  const { socket } = reply.raw;
  const timer = setTimeout(() => socket?.destroy(), holdMs).unref();
  socket?.once("close", () => clearTimeout(timer));
  return reply;
}

function sendHalf(reply: FastifyReply, body: object): FastifyReply {
  reply.hijack();
  const bytes = Buffer.from(JSON.stringify(body));
  reply.raw.writeHead(reply.statusCode, { "content-type": "application/json; charset=utf-8", "content-length": bytes.length });
  reply.raw.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => reply.raw.socket?.destroy());
  return reply;
}

async function waitWhileConnected(reply: FastifyReply, ms: number): Promise<void> {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort();
  reply.raw.once("close", abort);
  await sleep(ms, disconnected.signal);
  reply.raw.off("close", abort);
}
