import type { MigrateOptions, StuckRows } from "@amana/database";
import type { Action, RecordAction } from "@amana/messaging";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** Description of a service for the command `amana`, exported from its `src/repair.ts`. */
export interface ServiceDescription {
  readonly name: string;
  readonly database: Omit<MigrateOptions, "url">;
  /** Topics to which the service's outbox is relayed. */
  readonly emits: readonly string[];
  /** Consumed topics, with the messages of their payloads. */
  readonly consumes: Readonly<Record<string, DescMessage>>;
  /** Rows that can be stuck: the rows of the service and the rows of its packages. */
  readonly stuckRows: readonly StuckRows[];
  /** Columns that are encrypted with SECRET_ENCRYPTION_KEYS. */
  readonly encryptedColumns?: readonly EncryptedColumn[];
  /** Starts and ends the refund hold after a restore. */
  readonly refunds?: {
    hold(em: SqlEntityManager, seconds: number): Promise<Date>;
    release(em: SqlEntityManager): Promise<boolean>;
  };
  /**
   * Revokes an API key of a business or an operator key, and records the revocation in the audit
   * trail. Returns "before" if the key was already revoked, and "unknown" if no key has the id.
   */
  revokeKey?(em: SqlEntityManager, id: string, action: Pick<Action, "by" | "reason">): Promise<"revoked" | "before" | "unknown">;
  /**
   * Returns a page of the events that this service received from the service `from`, after the
   * event `afterEventId`.
   */
  consumedEvents?(em: SqlEntityManager, from: string, afterEventId: string, limit: number): Promise<ConsumedEvent[]>;
  /**
   * Compares events with the rows of this service and schedules a new read of the rows that differ.
   * `events` contains the newest event of each row. Runs in the caller's transaction.
   */
  findDifferences?(em: SqlEntityManager, events: readonly ConsumedEvent[]): Promise<Difference[]>;
  /** Rows of a business for an evidence bundle. */
  readonly evidence?: readonly EvidenceFile[];
  /** Records an action of a person in the audit trail, in the transaction of the action. */
  readonly record: RecordAction;
}

/** An event that a consumer has stored. */
export interface ConsumedEvent {
  readonly eventId: string;
  /** Id of the resource that the event is about. */
  readonly id: string;
  readonly businessId: string;
  readonly status: string;
  /** Data for a search in other systems: amounts, the processor's order. */
  readonly details: string;
}

export interface Difference extends ConsumedEvent {
  /** Status of the resource in this service; "unknown" when it does not exist. */
  readonly here: string;
}

/** A column with ciphertexts of `packages/secret-box`, which are bound to the id of their row. */
export interface EncryptedColumn {
  readonly table: string;
  /** Table or view in which rows are searched by their encryption keys. Default: `table`. */
  readonly lookUpIn?: string;
  readonly column: string;
}

/** Rows of a business in a file of an evidence bundle. */
export interface EvidenceFile {
  /** Name of the file, for example "payments". */
  readonly name: string;
  /**
   * SQL that selects `at`, `id` and `json` of a business's rows; `?` is the business id. The JSON
   * leaves the deployment, so it must not contain secrets, or personal data that the API does not
   * return.
   */
  readonly select: string;
}
