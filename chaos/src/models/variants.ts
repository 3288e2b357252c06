/** A model, the rules taken away from it, and what the search must then find. */
export interface Variant {
  readonly model: "refund" | "key-lease";
  /** Without one, the rules as they are. */
  readonly without?: string;
  readonly says: string;
}

/**
 * Each model as it is, which must hold, and once for each rule that something depends on, which
 * must not.
 */
export const variants: readonly Variant[] = [
  { model: "refund", says: "refunds as they are sent" },
  { model: "refund", without: "OLD_BASELINE", says: "the first send takes any refunded sum as where it begins" },
  { model: "refund", without: "OLD_RESEND", says: "a part is sent again, too, when a read shows none" },
  { model: "refund", without: "OLD_CODE_7", says: "code 7 ends a refund" },
  { model: "refund", without: "NO_WAIT", says: "a refund follows a refused one at once" },
  { model: "refund", without: "ANY_REFUSAL", says: "the refusal of the first send ends a refund that was sent again meanwhile" },
  { model: "key-lease", says: "keys as they are believed" },
  { model: "key-lease", without: "OWN_SETTING", says: "identity waits for its own setting only" },
  { model: "key-lease", without: "NO_MARGIN", says: "no margin for clocks of different speeds" },
  { model: "key-lease", without: "HEADERS_ONLY", says: "no second look when the body came late" },
  { model: "key-lease", without: "NO_SECOND_WAIT", says: "a repeated revocation is answered at once" },
];
