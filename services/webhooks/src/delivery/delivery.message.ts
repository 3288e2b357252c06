import { DeliveryFailure, type DeliverySchema, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeliveryRow } from "./queries.ts";

export const toDeliveryMessages = (rows: readonly DeliveryRow[]): MessageInitShape<typeof DeliverySchema>[] =>
  rows.map((row) => ({
    id: row.id,
    endpointId: row.endpoint_id,
    status: DeliveryStatus[row.status],
    nextAttemptAtMs: row.next_attempt_at_ms === null ? undefined : BigInt(row.next_attempt_at_ms),
    attempts: row.attempts.map((attempt) => ({
      atMs: BigInt(attempt.at_ms),
      statusCode: attempt.status_code ?? undefined,
      error: attempt.error ?? undefined,
      failure: attempt.failure === null ? undefined : DeliveryFailure[attempt.failure],
      durationMs: attempt.duration_ms,
      response: attempt.response ?? undefined,
    })),
  }));
