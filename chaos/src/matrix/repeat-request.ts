import { randomUUID } from "node:crypto";
import { type ApiResponse, apiCaller } from "@amana/dev-env/demo/api";
import { sleep } from "@amana/runtime";
import type { RefundContext } from "../refunds/request-refunds.ts";

const pauseMs = 200;

/**
 * Returns a function that repeats a request with one Idempotency-Key until `isDone` returns true.
 * The function returns the body of the last response, or undefined after `signal` was aborted.
 */
export const createRepeater =
  ({ gatewayUrl, signal }: Pick<RefundContext, "gatewayUrl" | "signal">) =>
  async (apiKey: string, path: string, body: object, isDone: (response: ApiResponse) => boolean) => {
    const headers = { "idempotency-key": randomUUID() };
    while (!signal.aborted) {
      const response = await apiCaller(gatewayUrl(), apiKey)("POST", path, body, headers).catch(() => undefined);
      if (response && isDone(response)) return response.body;
      await sleep(pauseMs, signal);
    }
    return undefined;
  };

/**
 * Reads a resource until `isDone` returns true. Returns the body of the last response, or undefined
 * after `signal` was aborted.
 */
export async function readUntil(
  { gatewayUrl, signal }: Pick<RefundContext, "gatewayUrl" | "signal">,
  apiKey: string,
  path: string,
  isDone: (body: ApiResponse["body"]) => boolean,
): Promise<ApiResponse["body"] | undefined> {
  while (!signal.aborted) {
    const response = await apiCaller(gatewayUrl(), apiKey)("GET", path).catch(() => undefined);
    if (response?.status === 200 && isDone(response.body)) return response.body;
    await sleep(pauseMs, signal);
  }
  return undefined;
}
