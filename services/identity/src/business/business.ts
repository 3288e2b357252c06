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
    /** Number of the business, assigned by the database. */
    organizationId: p.integer().autoincrement(),
    /** Set if the business registered itself with an invitation. */
    contactEmail: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const allowedStatuses: Readonly<Record<BusinessStatus, readonly BusinessStatus[]>> = {
  PENDING: ["ACTIVE", "REJECTED"],
  ACTIVE: ["DISABLED"],
  DISABLED: ["ACTIVE"],
  REJECTED: [],
};

/** A tenant. The gateway accepts the keys of a business only while the business is ACTIVE. */
export class Business extends schema.class {
  rename(name: string, now: Date): void {
    if (name === this.name) return;
    this.name = name;
    this.updatedAt = now;
  }

  /**
   * Changes the status. Does nothing if the business already has this status. Throws if the change
   * is not allowed.
   */
  changeStatus(status: BusinessStatus, now: Date): void {
    if (status === this.status) return;
    const possible = allowedStatuses[this.status];
    if (!possible.includes(status)) throw invalidStatusTransition(this.status, status, possible);
    this.status = status;
    this.updatedAt = now;
  }

  /** Updates `updatedAt` after a change of a public field that another table stores. */
  touch(now: Date): void {
    this.updatedAt = now;
  }

  /** Returns the fields that the audit trail stores. */
  snapshot() {
    return { name: this.name, status: this.status };
  }
}
schema.setClass(Business);

/** Locks a business, so that changes of the business and its keys are serialized. */
export const lockBusiness = (em: SqlEntityManager, id: string, notFoundError = businessNotFound): Promise<Business> =>
  lockRow(em, Business, allBusinesses, id, notFoundError);
