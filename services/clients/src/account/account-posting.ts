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
    /** The poster's own, unique on the account. */
    reference: p.text(),
    /** The hold that is captured or released, or the posting that is reversed. */
    ofId: p.uuid().nullable(),
    /** The day it counts against the limits, if it does. A capture counts on its hold's day. */
    countsOn: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/** One movement on an account. Postings are only added; one that undoes another names it. */
export class AccountPosting extends schema.class {
  /** Whether it is the posting that an order with its reference asks for again. */
  isSame(kind: PostingKind, amountMinor: bigint | undefined, ofId: string | undefined): boolean {
    return this.kind === kind && this.amountMinor === amountMinor && (this.ofId ?? undefined) === ofId;
  }
}
schema.setClass(AccountPosting);
