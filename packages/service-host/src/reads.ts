import { allBusinesses, type List, type Orm, type Owner } from "@amana/database";
import { type Call, type Caller, type DomainError, requireAdmin, requireBusiness } from "@amana/rpc";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

interface Context {
  readonly orm: Orm;
}

/** Returns `allBusinesses` for an operator. Throws a DomainError for any other caller. */
export function operatorScope(caller: Caller): typeof allBusinesses {
  requireAdmin(caller);
  return allBusinesses;
}

/**
 * Returns an RPC that reads a row by its id. `ownerOf` selects the owner of the row, by default the
 * calling business. Throws `missing()` when the owner has no such row.
 */
export const createGetRpc =
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
  /** Selects the owner of the rows. Default: the calling business. */
  readonly ownerOf?: (caller: Caller) => Owner;
  /** Checks a request. Throws to reject the request. */
  readonly check?: (em: SqlEntityManager, owner: Owner, request: Request) => Promise<void>;
}

/** Returns an RPC that reads a page of rows, in the response field `name`, and their total. */
export const createListRpc =
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
