import { RefusalSchema } from "@amana/contracts/rpc/v1/refusal_pb";
import { type DomainError, fromConnectError, toConnectError, unavailable } from "@amana/rpc";
import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { defineEntity, p } from "@mikro-orm/postgresql";

const schema = defineEntity({
  name: "IdempotencyRecord",
  tableName: "idempotency_key",
  properties: {
    id: p.uuid().primary(),
    scope: p.text(),
    route: p.text(),
    key: p.text(),
    fingerprint: p.text(),
    answer: p.blob().nullable(),
    refusal: p.blob().nullable(),
    /**
     * Time from which the same request may claim the key again. If null, the request may do this
     * only 24 hours after the execution has ended.
     */
    heldUntil: p.datetime(3).nullable(),
    /**
     * Start of the 24 hours for which the key is kept: the time of the last claim, or of the end of
     * the execution. A trigger sets the time of the end, because an older version of the service
     * may run at the same time.
     */
    keptFrom: p.datetime(3).fieldName("created_at"),
  },
});

const retentionMs = 24 * 60 * 60 * 1000;

/**
 * Use of an Idempotency-Key by one request. The transaction that ends the execution stores a
 * response or a refusal. Before that, the execution is in progress or its outcome is unknown.
 */
export class IdempotencyRecord extends schema.class {
  hasEnded(): boolean {
    return Boolean(this.answer ?? this.refusal);
  }

  /** Returns whether the hold has ended, so that the same request may claim the record again. */
  isAbandoned(now: Date): boolean {
    return !this.hasEnded() && this.heldUntil != null && this.heldUntil <= now;
  }

  /**
   * Returns whether a new request may use the key: 24 hours after the end of the execution, or
   * after the last claim of an abandoned execution. A key with an unknown outcome never becomes
   * free, because a second execution could repeat the effect.
   */
  isExpired(now: Date): boolean {
    return (this.hasEnded() || this.isAbandoned(now)) && this.keptFrom.getTime() <= now.getTime() - retentionMs;
  }

  /**
   * Ends the hold of an execution with an unknown outcome, so that the same request may claim the
   * record again immediately.
   */
  release(): void {
    this.heldUntil = this.keptFrom;
  }

  storeResponse<O extends DescMessage>(output: O, response: MessageInitShape<O>): void {
    this.answer = Buffer.from(toBinary(output, create(output, response)));
  }

  /** Stores a refusal of an external system, which `replay` throws again. Store no other error. */
  storeRefusal(error: DomainError): void {
    const [refusal] = toConnectError(error).findDetails(RefusalSchema);
    this.refusal = Buffer.from(toBinary(RefusalSchema, refusal ?? create(RefusalSchema)));
  }

  /** Returns the stored response of a finished execution, or throws its stored refusal. */
  replay<O extends DescMessage>(output: O): MessageShape<O> {
    if (this.refusal) throw this.storedRefusal(this.refusal);
    return fromBinary(output, this.answer ?? new Uint8Array());
  }

  private storedRefusal(bytes: Uint8Array): DomainError {
    const error = new ConnectError("stored");
    error.details.push({ desc: RefusalSchema, value: fromBinary(RefusalSchema, bytes) });
    return (
      fromConnectError(error) ?? unavailable("service_unavailable", "The stored response cannot be read. Contact the operator.")
    );
  }
}
schema.setClass(IdempotencyRecord);
