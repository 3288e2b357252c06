import { beginSpan } from "@amana/runtime";
import type { ClaimedDelivery } from "./claim.ts";
import type { Answer } from "./post.ts";

/**
 * Posts, in a span of the event's trace. Of the address it tells the host alone: paths and queries
 * of webhooks often hold secrets. The receiver is told nothing of the trace.
 */
export async function postInSpan(
  delivery: ClaimedDelivery,
  post: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const span = beginSpan("client", "POST webhook", delivery.traceparent ?? undefined);
  const answer = await post();
  if (!span) return answer;
  const { statusCode } = answer ?? {};
  span.set({
    "http.request.method": "POST",
    "http.response.status_code": statusCode,
    "server.address": new URL(delivery.url).hostname,
    "amana.attempt": delivery.attempts + 1,
    "amana.delivery_id": delivery.id,
    "amana.event_id": delivery.event_id,
    "amana.event_type": delivery.type,
    "amana.endpoint_id": delivery.endpoint_id,
    "amana.business_id": delivery.business_id,
  });
  span.end(failureOf(answer));
  return answer;
}

function failureOf(answer: Answer | undefined): string | undefined {
  if (!answer) return "cut_off";
  const { statusCode = 0, failure } = answer;
  if (failure) return failure.code.toLowerCase();
  return statusCode >= 200 && statusCode < 300 ? undefined : String(statusCode);
}
