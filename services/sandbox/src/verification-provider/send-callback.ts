import { sleep } from "@amana/runtime";
import type { Config } from "../config.ts";
import type { Mode } from "../faults.ts";
import type { CallbackProtocol } from "./callback-protocol.ts";
import type { Callback } from "./callbacks.ts";

/** Result of an attempt. `result` is the text for testers. */
export interface AttemptResult {
  /** True if the callback receiver responded with a 2xx status. */
  readonly isAccepted: boolean;
  /** Undefined if no response arrived. */
  readonly status?: number;
  readonly result: string;
}

/**
 * Makes one attempt to send a callback with a fault. If the mode ends with `_before` or is an HTTP
 * status, sends nothing. If the mode ends with `_after`, sends the callback and ignores the
 * response.
 */
export async function sendCallback(
  { url, body }: Callback,
  { secretsOf, sign, leak, timeoutMs }: CallbackProtocol,
  config: Config,
  { name, value, text }: Mode,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const secrets = secretsOf(config);
  const send = (signingSecrets: readonly string[], content: string | ReadableStream = body, signed = body) =>
    post(url, content, sign(signed, signingSecrets), AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]));
  const addFaultName = ({ result, ...attempt }: AttemptResult): AttemptResult => ({
    ...attempt,
    result: `${result}, fault ${text}`,
  });
  const markResponseLost = ({ result }: AttemptResult) => addFaultName({ isAccepted: false, result });
  const skipSending = (isAccepted: boolean, status?: number) =>
    addFaultName({ isAccepted, status, result: `not sent${status === undefined ? "" : `, counted as ${status}`}` });

  switch (name) {
    case "timeout_before":
      return skipSending(false);
    case "http_500":
    case "http_503":
    case "html_200":
      return skipSending(name === "html_200", Number(name.slice(5)));
    case "error":
      return skipSending(false, Number(value));
    case "timeout_after":
    case "reset_after":
      return markResponseLost(await send(secrets));
    case "truncated":
      return markResponseLost(await send(secrets, halfOf(body)));
    case "bad_signature":
      return addFaultName(await send(secrets.map((secret) => `not ${secret}`)));
    case "leak": {
      const leakingBody = JSON.stringify(leak(JSON.parse(body) as object, value));
      const attempt = await send(secrets, leakingBody, leakingBody);
      // Omits the word of the fault, because the result is logged and tests search the logs for the
      // word.
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

async function post(
  url: string,
  body: string | ReadableStream,
  signature: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<AttemptResult> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...signature },
      body,
      redirect: "manual",
      signal,
      ...(typeof body !== "string" && { duplex: "half" }),
    });
    await response.body?.cancel();
    return { isAccepted: response.ok, status: response.status, result: String(response.status) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { isAccepted: false, result: cause?.code ?? name };
  }
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
