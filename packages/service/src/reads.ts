import type { List, Orm } from "@amana/database";
import { businessOf, type Call, type DomainError } from "@amana/rpc";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface Context {
  readonly orm: Orm;
}

/** Answers one row of the calling business, by its id. Throws `missing` without one. */
export const readOne =
  <Row, Message>(
    view: { read(em: SqlEntityManager, businessId: string, id: string): Promise<Row | undefined> },
    toMessage: (row: Row) => Message,
    missing: () => DomainError,
  ) =>
  ({ orm }: Context) =>
  async ({ id }: { id: string }, { caller }: Call): Promise<Message> => {
    const row = await view.read(orm.em, businessOf(caller), id);
    if (!row) throw missing();
    return toMessage(row);
  };

/**
 * The RPC that answers a page of the calling business's rows, in the field `name`, and how many
 * there are. `check` may refuse what the request names.
 */
export const readPage =
  <R extends DescMessage, Row, Name extends string, Message>(
    list: List<R, Row>,
    name: Name,
    toMessage: (row: Row) => Message,
    check?: (em: SqlEntityManager, businessId: string, request: MessageShape<R>) => Promise<void>,
  ) =>
  ({ orm }: Context) =>
  async (request: MessageShape<R>, { caller }: Call) => {
    const businessId = businessOf(caller);
    await check?.(orm.em, businessId, request);
    const { rows, ...total } = await list.page(orm.em, businessId, request);
    return { ...total, ...({ [name]: rows.map((row) => toMessage(row)) } as Record<Name, Message[]>) };
  };
