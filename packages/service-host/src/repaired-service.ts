import type { MigrateOptions, StuckRows } from "@amana/database";
import type { Action, RecordAction } from "@amana/messaging";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** Description of a service for the command `amana`, exported from its `src/repair.ts`. */
export interface RepairedService {
  readonly name: string;
  readonly database: Omit<MigrateOptions, "url">;
  /** The topics that its outbox is relayed to. */
  readonly emits: readonly string[];
  /** Those that it consumes, and what their payloads are. */
  readonly consumes: Readonly<Record<string, DescMessage>>;
  /** What may wait too long here: the service's own rows, and those of its packages. */
  readonly waiting: readonly StuckRows[];
  /** Columns under SECRET_ENCRYPTION_KEYS. */
  readonly sealed?: readonly SealedColumn[];
  /** Holds refunds after a restore, and lets them go on. */
  readonly refunds?: {
    hold(em: SqlEntityManager, seconds: number): Promise<Date>;
    release(em: SqlEntityManager): Promise<boolean>;
  };
  /** Takes a business's key away, with its row in the audit trail. */
  revokeKey?(em: SqlEntityManager, id: string, action: Pick<Action, "by" | "reason">): Promise<"revoked" | "before" | "unknown">;
  /** Returns a page of the events that this service received from another, after an event id. */
  heard?(em: SqlEntityManager, from: string, afterEventId: string, limit: number): Promise<ConsumedEvent[]>;
  /**
   * Compares the newest event about each of this service's rows with the row, and schedules another
   * read of the rows that differ. In the caller's transaction.
   */
  compare?(em: SqlEntityManager, heard: readonly ConsumedEvent[]): Promise<Difference[]>;
  /** What of a business's affairs goes into an evidence bundle. */
  readonly evidence?: readonly Evidence[];
  /** Writes what a person did into the audit trail, in the transaction that does it. */
  readonly record: RecordAction;
}

/** An event, as a consumer remembers it. */
export interface ConsumedEvent {
  readonly eventId: string;
  /** Of the thing it is about. */
  readonly id: string;
  readonly businessId: string;
  readonly status: string;
  /** What a person needs to find it elsewhere: amounts, the processor's order. */
  readonly details: string;
}

export interface Difference extends ConsumedEvent {
  /** The status here; "unknown": it is not here at all. */
  readonly here: string;
}

/** A column with ciphertexts of `packages/secret-box`; the row's id is their owner. */
export interface SealedColumn {
  readonly table: string;
  /** Where its rows are looked up by their keys; the table unless given. */
  readonly lookUpIn?: string;
  readonly column: string;
}

/** Rows of a business, as a file of an evidence bundle has them. */
export interface Evidence {
  /** The file's name: "payments" */
  readonly name: string;
  /**
   * SQL of `at`, `id` and `json` of a business's rows, `?` being the business. What is in the JSON
   * is handed over: no secrets, and no more of a person than the API shows the business.
   */
  readonly select: string;
}
