const byStatus: Readonly<Record<number, string>> = {
  408: "Yes, at once.",
  429: "Yes, after Retry-After, and more slowly.",
  500: "Once or twice, with the same Idempotency-Key. Then tell support the request id.",
  502: "Not as it is: the answer is final, also under its Idempotency-Key. A new attempt needs a new key.",
  503: "Yes, after Retry-After, with the same Idempotency-Key.",
  504: "Yes, after Retry-After, with the same Idempotency-Key; or read first what became of it.",
};
const byCode: Readonly<Record<string, string>> = {
  delivery_attempt_limit_reached: "Yes, after some hours.",
  endpoint_checked_recently: "Yes, in ten seconds.",
  refunds_held: "Yes, at refundable_at, with the same Idempotency-Key.",
};

/** Whether a refused request is worth sending again, and how. */
export function retryAdvice(code: string, status: number): string {
  const passes = status === 409 && code.endsWith("_in_progress");
  const otherwise = passes ? "Yes, after Retry-After: what is in the way ends by itself." : byStatus[status];
  return byCode[code] ?? otherwise ?? "No. Change the request, or what stands in its way.";
}
