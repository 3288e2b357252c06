import { createHmac } from "node:crypto";
import { sleep } from "@amana/runtime";
import type { Config } from "../config.ts";
import type { Mode } from "../faults.ts";
import type { Callback } from "./callbacks.ts";
import { dialectOf } from "./dialect.ts";
import { signDiditCallback } from "./didit/callback.ts";
import { leakedApplicant } from "./leak.ts";
import { signSumsubCallback } from "./sumsub/callback.ts";

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
  { url, body, providerId }: Callback,
  config: Config,
  { name, value, text }: Mode,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const dialect = dialectOf(providerId);
  const secrets = { port: config.kycCallbackSecrets, didit: config.diditWebhookSecrets, sumsub: config.sumsubWebhookSecrets }[
    dialect
  ];
  const sign = { port: signPortCallback, didit: signWithFirst(signDiditCallback), sumsub: signWithFirst(signSumsubCallback) }[
    dialect
  ];
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

/** A vendor signs with one secret. */
const signWithFirst =
  (sign: (body: string, secret: string) => Record<string, string>) =>
  ([secret = ""]: readonly string[], body: string): Record<string, string> =>
    sign(body, secret);

/** Returns the header X-Provider-Signature. Uses the machine's clock, as clients do. */
function signPortCallback(secrets: readonly string[], body: string): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex"));
  return { "x-provider-signature": [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",") };
}

async function post(
  url: string,
  body: string | ReadableStream,
  signature: Readonly<Record<string, string>>,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...signature },
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
  const event = JSON.parse(body) as { application?: object };
  const application = event.application && { ...event.application, ...leakedApplicant(word) };
  return JSON.stringify({ ...event, ...leakedApplicant(word), ...(application && { application }) });
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
