import { faultPoint, readText, timed } from "@amana/runtime";
import { Agent, request } from "undici";
import { providerCalls } from "../metrics.ts";
import { parseJson, readChanges, readCreated, readErrorCode, readState } from "./read-response.ts";
import type { Outcome, VerificationProvider } from "./verification-provider.ts";

interface HttpProviderOptions {
  /** Base URL without "/v1". */
  readonly url: string;
  readonly token: string;
  /** Public URL of the gateway that receives the provider's callbacks. */
  readonly callbackUrl: string;
  readonly timeoutMs: number;
}

const callMetrics = { durations: providerCalls, to: "verification provider" };
const responseBytesMax = 256 * 1024;
/** The provider returns 409 with the application's current state if an operation is too late. */
const tooLateStatus = 409;

/** Client of the provider's HTTPS API. A response that cannot be read has the outcome "unknown". */
export function createHttpProvider(options: HttpProviderOptions): VerificationProvider & AsyncDisposable {
  const agent = new Agent({ connect: { timeout: 10_000 }, connections: 32, keepAliveTimeout: 20_000 });

  const callProvider = async <T>(
    operation: string,
    path: string,
    body: string | undefined,
    timeoutMs: number,
    read: (content: unknown) => T | undefined,
    statuses: readonly number[] = [200],
  ): Promise<Outcome<T>> => {
    try {
      const response = await request(`${options.url}/v1/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${options.token}`,
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body ?? null,
        dispatcher: agent,
        // A timer rejects fractions of milliseconds, which the remaining time contains.
        signal: AbortSignal.timeout(Math.max(1, Math.floor(Math.min(timeoutMs, options.timeoutMs)))),
      });
      const { statusCode } = response;
      const content = parseJson(await readText(response.body, responseBytesMax));
      faultPoint(`${operation}.answered`);
      const value = statuses.includes(statusCode) ? read(content) : undefined;
      if (value !== undefined) return { kind: "accepted", value };
      // 401 and 403 mean a wrong token in our settings. The other excluded codes are temporary.
      const isRefusal = statusCode >= 400 && statusCode < 500 && ![401, 403, 408, 425, 429].includes(statusCode);
      if (isRefusal) return { kind: "refused", status: statusCode, errorCode: readErrorCode(content) };
      return { kind: "unknown", reason: `status ${statusCode} without a usable response` };
    } catch (error) {
      return { kind: "unknown", reason: (error as NodeJS.ErrnoException).code ?? String(error) };
    }
  };
  const buildPath = (providerId: string) => `applications/${encodeURIComponent(providerId)}`;

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
      const bodyWithProfile = profile === undefined ? body : `${body.slice(0, -1)},"profile":${profile}}`;
      return callProvider("kyc_create", "applications", bodyWithProfile, timeoutMs, readCreated, [200, 201]);
    },
    get: (providerId, timeoutMs) => callProvider("kyc_get", buildPath(providerId), undefined, timeoutMs, readState),
    cancel: (providerId, timeoutMs) =>
      callProvider("kyc_cancel", `${buildPath(providerId)}/cancel`, "{}", timeoutMs, readState, [200, tooLateStatus]),
    review: (providerId, decision, timeoutMs) =>
      callProvider("kyc_review", `${buildPath(providerId)}/review`, JSON.stringify(decision), timeoutMs, readState, [
        200,
        tooLateStatus,
      ]),
    events(after, limit, timeoutMs) {
      const query = new URLSearchParams({ ...(after === null ? {} : { after }), limit: String(limit) });
      return callProvider("kyc_events", `events?${query}`, undefined, timeoutMs, (content) => readChanges(content, after));
    },
  };
  return {
    create: timed(callMetrics, "create", provider.create),
    get: timed(callMetrics, "get", provider.get),
    cancel: timed(callMetrics, "cancel", provider.cancel),
    review: timed(callMetrics, "review", provider.review),
    events: timed(callMetrics, "events", provider.events),
    async [Symbol.asyncDispose]() {
      await agent.close();
    },
  };
}
