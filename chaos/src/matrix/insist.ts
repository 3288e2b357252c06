import { randomUUID } from "node:crypto";
import { type Answer, apiCaller } from "@amana/dev-env/demo/api";
import { sleep } from "@amana/runtime";
import type { Scene } from "../refunds/ask-for-refunds.ts";

const pauseMs = 200;

/** Sends a request with one Idempotency-Key until it is done; undefined: not in time. */
export const insistOf =
  ({ gatewayUrl, signal }: Scene) =>
  async (apiKey: string, path: string, body: object, isDone: (answer: Answer) => boolean) => {
    const headers = { "idempotency-key": randomUUID() };
    while (!signal.aborted) {
      const answer = await apiCaller(gatewayUrl(), apiKey)("POST", path, body, headers).catch(() => undefined);
      if (answer && isDone(answer)) return answer.body;
      await sleep(pauseMs, signal);
    }
    return undefined;
  };
