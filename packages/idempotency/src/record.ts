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
    /** Null: until it has ended. Otherwise the same request may be executed again after this. */
    heldUntil: p.datetime(3).nullable(),
    /**
     * Time from which the key is kept for 24 hours: the last claim, or the end of the execution, to
     * which a trigger moves it. Older versions count from this column too.
     */
    keptFrom: p.datetime(3).fieldName("created_at"),
  },
});

const keptMs = 24 * 60 * 60 * 1000;

/**
 * One use of an Idempotency-Key. Without answer and refusal the execution still runs, or its
 * outcome is unknown. The transaction that ends the execution stores the answer or the refusal.
 */
export class IdempotencyRecord extends schema.class {
  hasEnded(): boolean {
    return Boolean(this.answer ?? this.refusal);
  }

  /** Whether nobody works on it any more and the same request may go on with it. */
  isAbandoned(now: Date): boolean {
    return !this.hasEnded() && this.heldUntil != null && this.heldUntil <= now;
  }

  /**
   * Returns whether the key is free again: 24 hours after the end, or after the last claim of an
   * abandoned execution. A key with an unknown outcome is never free, because a second execution
   * could repeat the effect.
   */
  isForgotten(now: Date): boolean {
    return (this.hasEnded() || this.isAbandoned(now)) && this.keptFrom.getTime() <= now.getTime() - keptMs;
  }

  /** The outcome is unknown, and the same request may find it out at once. */
  release(): void {
    this.heldUntil = this.keptFrom;
  }

  storeAnswer<O extends DescMessage>(output: O, answer: MessageInitShape<O>): void {
    this.answer = Buffer.from(toBinary(output, create(output, answer)));
  }

  /** Only refusals by the outside world are stored; `replay` throws them again. */
  storeRefusal(error: DomainError): void {
    const [refusal] = toConnectError(error).findDetails(RefusalSchema);
    this.refusal = Buffer.from(toBinary(RefusalSchema, refusal ?? create(RefusalSchema)));
  }

  /** The stored end of a finished execution: returns the answer or throws the refusal. */
  replay<O extends DescMessage>(output: O): MessageShape<O> {
    if (this.refusal) throw this.storedRefusal(this.refusal);
    return fromBinary(output, this.answer ?? new Uint8Array());
  }

  private storedRefusal(bytes: Uint8Array): DomainError {
    const error = new ConnectError("stored");
    error.details.push({ desc: RefusalSchema, value: fromBinary(RefusalSchema, bytes) });
    return fromConnectError(error) ?? unavailable("service_unavailable", "The stored answer cannot be read.");
  }
}
schema.setClass(IdempotencyRecord);
