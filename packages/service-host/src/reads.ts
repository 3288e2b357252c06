import { allBusinesses, type List, type Orm, type Owner } from "@amana/database";
import { type Call, type Caller, type DomainError, requireAdmin, requireBusiness } from "@amana/rpc";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface Context {
  readonly orm: Orm;
}

/** For operators: the rows of all businesses. */
export function forOperators(caller: Caller): typeof allBusinesses {
  requireAdmin(caller);
  return allBusinesses;
}

/** Answers one row by its id, of the calling business unless given; else throws `missing`. */
export const readOne =
  <Row, Message>(
    view: { read(em: SqlEntityManager, owner: Owner, id: string): Promise<Row | undefined> },
    toMessage: (row: Row) => Message,
    missing: () => DomainError,
    ownerOf: (caller: Caller) => Owner = requireBusiness,
  ) =>
  ({ orm }: Context) =>
  async ({ id }: { id: string }, { caller }: Call): Promise<Message> => {
    const row = await view.read(orm.em, ownerOf(caller), id);
    if (!row) throw missing();
    return toMessage(row);
  };

interface PageOptions<Request> {
  /** Whose rows; of the calling business unless given. */
  readonly ownerOf?: (caller: Caller) => Owner;
  /** May refuse what the request names. */
  readonly check?: (em: SqlEntityManager, owner: Owner, request: Request) => Promise<void>;
}

/** The RPC that answers a page of rows, in the field `name`, and how many there are. */
export const readPage =
  <R extends DescMessage, Row, Name extends string, Message>(
    list: List<R, Row>,
    name: Name,
    toMessage: (row: Row) => Message,
    { ownerOf = requireBusiness, check }: PageOptions<MessageShape<R>> = {},
  ) =>
  ({ orm }: Context) =>
  async (request: MessageShape<R>, { caller }: Call) => {
    const owner = ownerOf(caller);
    await check?.(orm.em, owner, request);
    const { rows, ...total } = await list.page(orm.em, owner, request);
    return { ...total, ...({ [name]: rows.map((row) => toMessage(row)) } as Record<Name, Message[]>) };
  };
