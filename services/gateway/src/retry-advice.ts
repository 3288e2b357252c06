const byStatus: Readonly<Record<number, string>> = {
  408: "Yes, immediately.",
  429: "Yes, after Retry-After, at a lower rate.",
  500: "Once or twice, with the same Idempotency-Key. If the error persists, send the request id to support.",
  502: "Not as it is: the response is final and stored under the Idempotency-Key. Use a new key for a new attempt.",
  503: "Yes, after Retry-After, with the same Idempotency-Key.",
  504: "Yes, after Retry-After, with the same Idempotency-Key. Or read the resource to find the outcome.",
};
const byCode: Readonly<Record<string, string>> = {
  delivery_attempt_limit_reached: "Yes, after a few hours.",
  endpoint_checked_recently: "Yes, after ten seconds.",
  refunds_held: "Yes, at refundable_at, with the same Idempotency-Key.",
};

/** Returns the text that explains whether and how to repeat a rejected request. */
export function retryAdvice(code: string, status: number): string {
  const isTemporary = status === 409 && code.endsWith("_in_progress");
  const statusAdvice = isTemporary ? "Yes, after Retry-After. The conflict ends without an action of yours." : byStatus[status];
  return byCode[code] ?? statusAdvice ?? "No. Change the request first, or remove the cause of the rejection.";
}
