import { enumName } from "@amana/contracts/enum-names";
import {
  type DeadLetterSchema,
  DeadLetterService,
  DeadLetterStatus as ProtoStatus,
  DeadLetterSchema as schema,
} from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { afterCommit, listPage, type Orm, transaction } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Call, DomainError, requireAdmin, type ServedService, serve } from "@amana/rpc";
import { isUuid, type Logger } from "@amana/runtime";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { deadLetterFailed, deadLetterNotFound } from "./dead-letter.errors.ts";
import { type DeadLetterRow, endDeadLetter, lockDeadLetter, messageOf, recordFailedRetry } from "./dead-letter.ts";
import { applyNewMessages, callAfterCommit, type TopicHandler } from "./effect.ts";
import { isDatabaseOutage, reasonOf } from "./failure.ts";
import { maskPayload } from "./mask-payload.ts";
import { byCaller, type RecordAction } from "./record-action.ts";
import { type DeadLetterChange, deadLetterAction, lockRetryableDeadLetter, markDropped, shorten } from "./repair-dead-letters.ts";

interface DeadLetterContext {
  readonly orm: Orm;
  readonly topicHandlers: readonly TopicHandler[];
  readonly record: RecordAction;
  readonly logger: Logger;
}

type DeadLetterInit = MessageInitShape<typeof DeadLetterSchema>;

/** A selected dead-lettered message. The list query does not read the payload. */
interface ShownRow extends Omit<DeadLetterRow, "payload"> {
  payload?: Buffer;
  payload_bytes: number;
  next_attempt_ms: string | null;
  created_ms: string;
  updated_ms: string;
}

const ms = (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`;
const listColumns = `id, consumer, topic, key, event_id, event_type, headers, status, reason, attempts, length(payload) as payload_bytes,
  ${ms("next_attempt_at")} as next_attempt_ms, ${ms("created_at")} as created_ms, ${ms("updated_at")} as updated_ms`;
/**
 * Schedule after a failed manual retry. It has no maximum of retries, so that a failed manual retry
 * never sets a dead-lettered message to PARKED.
 */
const scheduleAfterManualRetry = { pausesMs: [60_000], retriesMax: null };

/**
 * Returns the RPC service for operators to read, retry and drop the dead-lettered messages of a
 * service.
 */
export function deadLetterService(context: DeadLetterContext): ServedService {
  const { orm, topicHandlers, logger } = context;
  const topicHandlerOf = (topic: string) => topicHandlers.find((topicHandler) => topicHandler.topic === topic);
  const fork = () => orm.em.fork();

  const record = (em: SqlEntityManager, call: Call, change: DeadLetterChange, reason?: string) =>
    context.record(em, new Date(), deadLetterAction(byCaller(call), "retried", change, reason));

  const toResponse = (row: ShownRow) => toDeadLetter(row, topicHandlerOf(row.topic)?.schema);

  const read = async (em: SqlEntityManager, id: string): Promise<DeadLetterInit> => {
    const [row] = await em.execute<ShownRow[]>(`select ${listColumns}, payload from dead_letter where id = ?::uuid`, [id]);
    if (!row) throw deadLetterNotFound();
    return toResponse(row);
  };

  return serve(DeadLetterService, {
    async listDeadLetters({ limit, offset, topic, status }, call) {
      requireAdmin(call.caller);
      const { rows, ...total } = await listPage<ShownRow>(fork(), {
        table: "dead_letter",
        columns: listColumns,
        filters: [
          { column: "topic", is: topic },
          status === ProtoStatus.UNSPECIFIED
            ? { always: "status in ('RETRYING', 'WAITING', 'PARKED', 'FORGED')" }
            : { column: "status", is: enumName(ProtoStatus, status) },
        ],
        limit,
        offset,
      });
      return { deadLetters: rows.map(toResponse), ...total };
    },

    async getDeadLetter({ id }, call) {
      requireAdmin(call.caller);
      if (!isUuid(id)) throw deadLetterNotFound();
      return await read(fork(), id);
    },

    async retryDeadLetter({ id }, call) {
      requireAdmin(call.caller);
      const attempt = once(orm, call, schema, async (em) => {
        const deadLetter = await lockRetryableDeadLetter(em, id);
        if (deadLetter.status === "DELIVERED") return await read(em, id);
        const topicHandler = topicHandlerOf(deadLetter.topic);
        if (!topicHandler) throw new Error(`this service does not consume ${deadLetter.topic} any more`);
        const { count, result } = await applyNewMessages(em, topicHandler, [messageOf(deadLetter)]);
        await endDeadLetter(em, id, "DELIVERED");
        record(em, call, { before: deadLetter, status: "DELIVERED" });
        if (count > 0) afterCommit(em, () => callAfterCommit(topicHandler, result, logger));
        return await read(em, id);
      });
      return await attempt.catch(async (error: unknown) => {
        if (error instanceof DomainError || isDatabaseOutage(error)) throw error;
        const reason = reasonOf(error);
        await transaction(orm, async (em) => {
          const deadLetter = await lockDeadLetter(em, id);
          const failedRetry = await recordFailedRetry(em, id, error, scheduleAfterManualRetry);
          record(em, call, { before: deadLetter, status: failedRetry?.status ?? deadLetter.status }, reason);
        });
        throw deadLetterFailed(reason);
      });
    },

    async dropDeadLetter({ id, note }, call) {
      requireAdmin(call.caller);
      return await once(orm, call, schema, async (em) => {
        const change = await markDropped(em, id);
        if (change) context.record(em, new Date(), deadLetterAction(byCaller(call), "dropped", change, note));
        return await read(em, id);
      });
    },
  });
}

function toDeadLetter(row: ShownRow, schema: DescMessage | undefined): DeadLetterInit {
  const payloadJson = row.payload && maskPayload(schema, row.payload);
  return {
    id: row.id,
    service: row.consumer,
    topic: row.topic,
    key: shorten(row.key),
    eventId: row.event_id ?? shorten(row.headers["ce_id"] ?? ""),
    eventType: shorten(row.event_type),
    status: ProtoStatus[row.status],
    reason: row.reason,
    attempts: row.attempts,
    payloadBytes: row.payload_bytes,
    headers: attributesOf(row.headers),
    ...(payloadJson !== undefined && { payloadJson }),
    ...(row.next_attempt_ms !== null && { nextAttemptAtMs: BigInt(row.next_attempt_ms) }),
    createdAtMs: BigInt(row.created_ms),
    updatedAtMs: BigInt(row.updated_ms),
  };
}

/** Headers shown to operators. A forged message can contain thousands of other headers. */
const shownHeaders = new Set(["ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "traceparent"]);

function attributesOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shownEntries = Object.entries(headers).filter(([name]) => shownHeaders.has(name));
  return Object.fromEntries(shownEntries.map(([name, value]) => [name, shorten(value)]));
}
