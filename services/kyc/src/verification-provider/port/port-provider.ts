import { createHttpCalls } from "../http-calls.ts";
import type { Outcome, VerificationProvider } from "../verification-provider.ts";
import { isSignedByProvider } from "./callback-signature.ts";
import { readCallbackHint, readChanges, readCreated, readErrorCode, readState } from "./read-response.ts";

export interface PortConfig {
  /** Base URL without "/v1". */
  readonly url: string;
  readonly token: string;
  /** Public URL of the gateway that receives the provider's callbacks. */
  readonly callbackUrl: string;
  /** Secrets with which the provider may sign its callbacks. */
  readonly callbackSecrets: readonly string[];
  readonly timeoutMs: number;
}

type PortProvider = VerificationProvider & Required<Pick<VerificationProvider, "listChanges">> & AsyncDisposable;

const responseBytesMax = 256 * 1024;
/**
 * Status of the response if an operation is too late. The response contains the application's
 * current state.
 */
const tooLateStatus = 409;

/**
 * Creates a client of a provider that implements our own protocol. If a response cannot be read,
 * the outcome is "unknown".
 */
export function createPortProvider(options: PortConfig): PortProvider {
  const http = createHttpCalls({ responseBytesMax, timeoutMs: options.timeoutMs });

  const callProvider = async <T>(
    operation: string,
    path: string,
    body: string | undefined,
    timeoutMs: number,
    read: (content: unknown) => T | undefined,
    statuses: readonly number[] = [200],
  ): Promise<Outcome<T>> => {
    const response = await http.call({
      operation,
      method: body === undefined ? "GET" : "POST",
      url: `${options.url}/v1/${path}`,
      headers: { authorization: `Bearer ${options.token}` },
      body,
      timeoutMs,
    });
    if (response.status === undefined) return { kind: "unknown", reason: response.reason };
    const { status, content } = response;
    const value = statuses.includes(status) ? read(content) : undefined;
    if (value !== undefined) return { kind: "accepted", value };
    // The listed statuses are not refusals. Statuses 401 and 403 mean a wrong token in our
    // settings, and the other listed statuses are temporary.
    const isRefusal = status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status);
    if (isRefusal) return { kind: "refused", status, errorCode: readErrorCode(content), isGone: status === 404 };
    return { kind: "unknown", reason: `status ${status} without a usable response` };
  };
  const buildPath = (providerId: string) => `applications/${encodeURIComponent(providerId)}`;
  const readApplication = ({ providerId }: { readonly providerId: string }, timeoutMs: number) =>
    callProvider("kyc_get", buildPath(providerId), undefined, timeoutMs, readState);

  return {
    name: "port",
    maxAttemptsDefault: 3,
    refusals: () => [],
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
    get: (known, timeoutMs) => readApplication(known, timeoutMs),
    // Sends only cancellations by the business, because the provider itself expires links and
    // counts attempts.
    cancel: (known, reason, timeoutMs) =>
      reason === "CANCELED"
        ? callProvider("kyc_cancel", `${buildPath(known.providerId)}/cancel`, "{}", timeoutMs, readState, [200, tooLateStatus])
        : readApplication(known, timeoutMs),
    review: ({ providerId }, decision, timeoutMs) =>
      callProvider("kyc_review", `${buildPath(providerId)}/review`, JSON.stringify(decision), timeoutMs, readState, [
        200,
        tooLateStatus,
      ]),
    listChanges(after, limit, timeoutMs) {
      const query = new URLSearchParams({ ...(after === null ? {} : { after }), limit: String(limit) });
      return callProvider("kyc_events", `events?${query}`, undefined, timeoutMs, (content) => readChanges(content, after));
    },
    async erase() {
      return { kind: "refused", status: 501, errorCode: "no_erasure_operation" };
    },
    readCallback({ body, headers }, now) {
      if (!isSignedByProvider(body, headers["x-provider-signature"] ?? "", options.callbackSecrets, now))
        return { kind: "forged" };
      const hint = readCallbackHint(body);
      return hint ? { kind: "genuine", hint } : { kind: "unreadable" };
    },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
