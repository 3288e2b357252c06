import { createHmac } from "node:crypto";
import { sleep } from "@amana/runtime";
import type { Mode } from "../faults.ts";
import type { Callback } from "./callbacks.ts";
import { leakedApplicant } from "./leak.ts";

const timeoutMs = 10_000;

/** Result of an attempt. `result` is the text for testers. */
export interface AttemptResult {
  /** Whether the callback receiver responded with 2xx. */
  readonly isAccepted: boolean;
  readonly result: string;
}

/**
 * Sends a callback once, with a fault. A `_before` fault or an HTTP status sends nothing. An
 * `_after` fault sends the callback and loses the response.
 */
export async function sendCallback(
  { url, body }: Callback,
  secrets: readonly string[],
  { name, value, text }: Mode,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const send = (signingSecrets: readonly string[], content: string | ReadableStream = body, signed = body) =>
    post(url, content, sign(signingSecrets, signed), stopping);
  const addFaultName = ({ isAccepted, result }: AttemptResult): AttemptResult => ({
    isAccepted,
    result: `${result}, fault ${text}`,
  });
  const markResponseLost = ({ result }: AttemptResult) => addFaultName({ isAccepted: false, result });
  const skipSending = (isAccepted: boolean, counted = "") => addFaultName({ isAccepted, result: `not sent${counted}` });

  switch (name) {
    case "timeout_before":
      return skipSending(false);
    case "http_500":
    case "http_503":
    case "html_200":
      return skipSending(name === "html_200", `, counted as ${name.slice(5)}`);
    case "error":
      return skipSending(false, `, counted as ${value}`);
    case "timeout_after":
    case "reset_after":
      return markResponseLost(await send(secrets));
    case "truncated":
      return markResponseLost(await send(secrets, halfOf(body)));
    case "bad_signature":
      return addFaultName(await send(secrets.map((secret) => `not ${secret}`)));
    case "leak": {
      const leakingBody = withApplicant(body, value);
      const attempt = await send(secrets, leakingBody, leakingBody);
      // Omits the word of the fault, because the result is logged.
      return { ...attempt, result: `${attempt.result}, fault leak` };
    }
    case "duplicate":
      await send(secrets);
      return addFaultName(await send(secrets));
    case "slow":
      await sleep(Number(value), stopping);
      return addFaultName(await send(secrets));
    default:
      return send(secrets);
  }
}

/** Returns the value of X-Provider-Signature. Uses the machine's clock, as clients do. */
function sign(secrets: readonly string[], body: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}

async function post(
  url: string,
  body: string | ReadableStream,
  signature: string,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-provider-signature": signature },
      body,
      redirect: "manual",
      signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
      ...(typeof body !== "string" && { duplex: "half" }),
    });
    await response.body?.cancel();
    return { isAccepted: response.ok, result: String(response.status) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { isAccepted: false, result: cause?.code ?? name };
  }
}

function withApplicant(body: string, word: string): string {
  const event = JSON.parse(body) as { application: object };
  return JSON.stringify({ ...event, ...leakedApplicant(word), application: { ...event.application, ...leakedApplicant(word) } });
}

/** Returns a stream that fails after half of the body. */
function halfOf(body: string): ReadableStream {
  const bytes = Buffer.from(body);
  let isHalfSent = false;
  return new ReadableStream({
    pull(stream) {
      if (isHalfSent) return stream.error(new Error("body truncated by a fault"));
      isHalfSent = true;
      stream.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)));
    },
  });
}
