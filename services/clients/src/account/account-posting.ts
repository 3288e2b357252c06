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
    /** Reference that the caller of `post` chose. It is unique among the account's postings. */
    reference: p.text(),
    /**
     * Id of the hold that this posting captures or releases, or of the posting that it reverses.
     */
    ofId: p.uuid().nullable(),
    /**
     * UTC day on which the amount counts against the account's limits, or null if it does not
     * count. A capture has the day of its hold.
     */
    countsOn: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/** A movement on an account. Postings are never changed or deleted; a reversal is a new posting. */
export class AccountPosting extends schema.class {
  /**
   * Returns whether an order with this posting's reference repeats the order that created this
   * posting.
   */
  matchesOrder(kind: PostingKind, amountMinor: bigint | undefined, ofId: string | undefined): boolean {
    return this.kind === kind && this.amountMinor === amountMinor && (this.ofId ?? undefined) === ofId;
  }
}
schema.setClass(AccountPosting);
