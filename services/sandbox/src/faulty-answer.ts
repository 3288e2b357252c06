import { sleep } from "@amana/runtime";
import type { FastifyReply } from "fastify";
import type { Mode } from "./faults.ts";

export interface Answer {
  /** Does what the call asks and returns the body; it sets a status other than 200 on the reply. */
  effect(): object;
  /** The body of a proper refusal with this code, and its status likewise. */
  refusal(code: string): object;
  /** Has the effect happen that much later, whether or not the caller is still there. */
  later?(ms: number): void;
}

/** Longer than any client waits, and short enough that forgotten connections go away. */
const holdMs = 60_000;

const htmlPage = "<!doctype html><html><head><title>Maintenance</title></head><body><h1>Service unavailable</h1></body></html>";

/** Answers a call the way the planted fault says. The effect happens once, or not at all. */
export async function answerWithFault(reply: FastifyReply, { name, value }: Mode, answer: Answer): Promise<unknown> {
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
      return reply.send(answer.refusal(value));
    case "late":
      answer.later?.(Number(value));
      return holdOpen(reply);
    case "error_late":
      answer.later?.(Number(value));
      return reply.send(answer.refusal("7"));
  }

  const body = answer.effect();
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
  const gone = new AbortController();
  const leave = () => gone.abort();
  reply.raw.once("close", leave);
  await sleep(ms, gone.signal);
  reply.raw.off("close", leave);
}
