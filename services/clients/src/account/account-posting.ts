import { defineEntity, p } from "@mikro-orm/postgresql";

export type PostingKind = "CREDIT" | "DEBIT" | "HOLD" | "CAPTURE" | "RELEASE" | "REVERSAL";

const schema = defineEntity({
  name: "AccountPosting",
  tableName: "account_posting",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    accountId: p.uuid(),
    kind: p.text().$type<PostingKind>(),
    amountMinor: p.bigint("bigint"),
    /** Reference of the caller, unique on the account. */
    reference: p.text(),
    /** The hold that is captured or released, or the posting that is reversed. */
    ofId: p.uuid().nullable(),
    /**
     * Day on which the amount counts against the limits; null if it does not count. A capture has
     * the day of its hold.
     */
    countsOn: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/** A movement on an account. Postings are never changed or deleted; a reversal is a new posting. */
export class AccountPosting extends schema.class {
  /**
   * Returns whether an order with the reference of this posting repeats the order that created it.
   */
  matchesOrder(kind: PostingKind, amountMinor: bigint | undefined, ofId: string | undefined): boolean {
    return this.kind === kind && this.amountMinor === amountMinor && (this.ofId ?? undefined) === ofId;
  }
}
schema.setClass(AccountPosting);
