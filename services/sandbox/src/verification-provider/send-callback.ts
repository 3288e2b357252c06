import { createHmac } from "node:crypto";
import { sleep } from "@amana/runtime";
import type { Mode } from "../faults.ts";
import type { Callback } from "./callbacks.ts";
import { applicantWith } from "./leak.ts";

const timeoutMs = 10_000;

/** What an attempt came to: whether the client said 2xx, and the line for the tester. */
export interface Attempt {
  readonly taken: boolean;
  readonly result: string;
}

/**
 * One attempt, spoiled the way the fault says. Here a mode spoils the answer that we hear: before
 * the effect nothing is sent, and after it the answer is lost.
 */
export async function sendCallback(
  { url, body }: Callback,
  secrets: readonly string[],
  { name, value, text }: Mode,
  stopping: AbortSignal,
): Promise<Attempt> {
  const send = (signedBy: readonly string[], content: string | ReadableStream = body, signed = body) =>
    post(url, content, sign(signedBy, signed), stopping);
  const spoiled = (attempt: Attempt, taken = attempt.taken): Attempt => ({ taken, result: `${attempt.result}, fault ${text}` });
  const notSent = (taken: boolean, counted = ""): Attempt => ({ taken, result: `not sent${counted}, fault ${text}` });

  switch (name) {
    case "timeout_before":
      return notSent(false);
    case "http_500":
    case "http_503":
    case "html_200":
      return notSent(name === "html_200", `, counted as ${name.slice(5)}`);
    case "error":
      return notSent(false, `, counted as ${value}`);
    case "timeout_after":
    case "reset_after":
      return spoiled(await send(secrets), false);
    case "truncated":
      return spoiled(await send(secrets, halfOf(body)), false);
    case "bad_signature":
      return spoiled(await send(secrets.map((secret) => `not ${secret}`)));
    case "leak": {
      const leaking = withApplicant(body, value);
      const attempt = await send(secrets, leaking, leaking);
      // Without its word: the result is logged.
      return { ...attempt, result: `${attempt.result}, fault leak` };
    }
    case "duplicate":
      await send(secrets);
      return spoiled(await send(secrets));
    case "slow":
      await sleep(Number(value), stopping);
      return spoiled(await send(secrets));
    default:
      return send(secrets);
  }
}

/** The value of X-Provider-Signature, with the machine's time: a client knows no sandbox clock. */
function sign(secrets: readonly string[], body: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const signatures = secrets.map((secret) => createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex"));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(",");
}

async function post(url: string, body: string | ReadableStream, signature: string, stopping: AbortSignal): Promise<Attempt> {
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
    return { taken: response.ok, result: String(response.status) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { taken: false, result: cause?.code ?? name };
  }
}

function withApplicant(body: string, word: string): string {
  const event = JSON.parse(body) as { application: object };
  return JSON.stringify({ ...event, ...applicantWith(word), application: { ...event.application, ...applicantWith(word) } });
}

/** Breaks off in the middle. */
function halfOf(body: string): ReadableStream {
  const bytes = Buffer.from(body);
  let sent = false;
  return new ReadableStream({
    pull(stream) {
      if (sent) return stream.error(new Error("broken off, as the fault says"));
      sent = true;
      stream.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)));
    },
  });
}
