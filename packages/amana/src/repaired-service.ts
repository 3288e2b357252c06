import type { MigrateOptions, Waiting } from "@amana/database";
import type { RecordAction } from "@amana/messaging";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** What a service says of itself in `src/repair.ts`; the command finds it there. */
export interface RepairedService {
  readonly name: string;
  readonly database: Omit<MigrateOptions, "url">;
  /** The topics that its outbox is relayed to. */
  readonly emits: readonly string[];
  /** Those that it consumes, and what their payloads are. */
  readonly consumes: Readonly<Record<string, DescMessage>>;
  /** What may wait too long here: the service's own rows, and those of its packages. */
  readonly waiting: readonly Waiting[];
  /** Columns under SECRET_ENCRYPTION_KEYS. */
  readonly sealed?: readonly SealedColumn[];
  /** Holds refunds after a restore, and lets them go on. */
  readonly refunds?: {
    hold(em: SqlEntityManager, seconds: number): Promise<Date>;
    release(em: SqlEntityManager): Promise<boolean>;
  };
  /** Writes what a person did into the audit trail, in the transaction that does it. */
  readonly record: RecordAction;
}

/** A column with ciphertexts of `packages/secret-box`; the row's id is their owner. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
}
