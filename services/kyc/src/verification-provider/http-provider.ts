import { faultPoint, readText, timed } from "@amana/runtime";
import { Agent, request } from "undici";
import { providerCalls } from "../metrics.ts";
import { parse, readChanges, readCreated, readErrorCode, readState } from "./read-answer.ts";
import type { Outcome, VerificationProvider } from "./verification-provider.ts";

interface HttpProviderOptions {
  /** Up to and without "/v1". */
  readonly url: string;
  readonly token: string;
  /** Where the provider calls back: the gateway's public address. */
  readonly callbackUrl: string;
  readonly timeoutMs: number;
}

const calls = { durations: providerCalls, to: "verification provider" };
const answerBytesMax = 256 * 1024;
/** 409 answers an operation that came too late with the application as it is. */
const tooLate = 409;

/** Our port over HTTPS with JSON and a bearer token. What is no readable answer is "unknown". */
export function createHttpProvider(options: HttpProviderOptions): VerificationProvider & AsyncDisposable {
  const agent = new Agent({ connect: { timeout: 10_000 }, connections: 32, keepAliveTimeout: 20_000 });

  const call = async <T>(
    operation: string,
    path: string,
    body: string | undefined,
    timeoutMs: number,
    read: (answer: unknown) => T | undefined,
    statuses: readonly number[] = [200],
  ): Promise<Outcome<T>> => {
    try {
      const answer = await request(`${options.url}/v1/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${options.token}`,
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body ?? null,
        dispatcher: agent,
        // Whole milliseconds: what is left of a deadline has fractions, which a timer refuses.
        signal: AbortSignal.timeout(Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)))),
      });
      const { statusCode } = answer;
      const content = parse(await readText(answer.body, answerBytesMax));
      faultPoint(`${operation}.answered`);
      const value = statuses.includes(statusCode) ? read(content) : undefined;
      if (value !== undefined) return { kind: "accepted", value };
      // A refused token is our own setting, and "try later" is no refusal either.
      const isRefusal = statusCode >= 400 && statusCode < 500 && ![401, 403, 408, 425, 429].includes(statusCode);
      if (isRefusal) return { kind: "refused", status: statusCode, errorCode: readErrorCode(content) };
      return { kind: "unknown", reason: `status ${statusCode} without a usable answer` };
    } catch (error) {
      return { kind: "unknown", reason: (error as NodeJS.ErrnoException).code ?? String(error) };
    }
  };
  const one = (providerId: string) => `applications/${encodeURIComponent(providerId)}`;

  const provider: VerificationProvider = {
    create(application, timeoutMs) {
      const body = JSON.stringify({
        reference: application.reference,
        locale: application.locale,
        allowed_documents: application.allowedDocuments,
        max_attempts: application.maxAttempts,
        require_video: application.requireVideo,
        ttl_hours: application.ttlHours,
        redirect_url: application.redirectUrl,
        applicant_email: application.applicantEmail,
        applicant_phone: application.applicantPhone,
        callback_url: options.callbackUrl,
      });
      const { profile } = application;
      const withProfile = profile === undefined ? body : `${body.slice(0, -1)},"profile":${profile}}`;
      return call("kyc_create", "applications", withProfile, timeoutMs, readCreated, [200, 201]);
    },
    get: (providerId, timeoutMs) => call("kyc_get", one(providerId), undefined, timeoutMs, readState),
    cancel: (providerId, timeoutMs) =>
      call("kyc_cancel", `${one(providerId)}/cancel`, "{}", timeoutMs, readState, [200, tooLate]),
    review: (providerId, decision, timeoutMs) =>
      call("kyc_review", `${one(providerId)}/review`, JSON.stringify(decision), timeoutMs, readState, [200, tooLate]),
    events(after, limit, timeoutMs) {
      const query = new URLSearchParams({ ...(after === null ? {} : { after }), limit: String(limit) });
      return call("kyc_events", `events?${query}`, undefined, timeoutMs, (answer) => readChanges(answer, after));
    },
  };
  return {
    create: timed(calls, "create", provider.create),
    get: timed(calls, "get", provider.get),
    cancel: timed(calls, "cancel", provider.cancel),
    review: timed(calls, "review", provider.review),
    events: timed(calls, "events", provider.events),
    async [Symbol.asyncDispose]() {
      await agent.close();
    },
  };
}
