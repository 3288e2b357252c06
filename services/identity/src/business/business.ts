import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/identity/v1/business_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { businessNotFound, invalidStatusTransition } from "./business.errors.ts";

export type BusinessStatus = EnumName<typeof proto.BusinessStatus>;

const schema = defineEntity({
  name: "Business",
  tableName: "business",
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    status: p.text().$type<BusinessStatus>(),
    /** Assigned by the database. */
    organizationId: p.integer().autoincrement(),
    /** Given by a business that registered itself. */
    contactEmail: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const statusMoves: Readonly<Record<BusinessStatus, readonly BusinessStatus[]>> = {
  PENDING: ["ACTIVE", "REJECTED"],
  ACTIVE: ["DISABLED"],
  DISABLED: ["ACTIVE"],
  REJECTED: [],
};

/** A tenant. Only an ACTIVE one's keys are accepted. */
export class Business extends schema.class {
  rename(name: string, now: Date): void {
    if (name === this.name) return;
    this.name = name;
    this.updatedAt = now;
  }

  /** The same status again changes nothing. */
  moveTo(status: BusinessStatus, now: Date): void {
    if (status === this.status) return;
    const possible = statusMoves[this.status];
    if (!possible.includes(status)) throw invalidStatusTransition(this.status, status, possible);
    this.status = status;
    this.updatedAt = now;
  }

  /** Something that its public view shows has changed elsewhere. */
  touch(now: Date): void {
    this.updatedAt = now;
  }

  /** As the audit trail keeps it. */
  snapshot() {
    return { name: this.name, status: this.status };
  }
}
schema.setClass(Business);

/** For a change of it or its keys: changes of one business come one after the other. */
export const lockBusiness = (em: SqlEntityManager, id: string, missing = businessNotFound): Promise<Business> =>
  lockRow(em, Business, allBusinesses, id, missing);
