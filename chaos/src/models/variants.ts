/** A model that is complete, or from which one rule is removed. */
export interface Variant {
  readonly model: "refund" | "key-lease";
  /** The removed rule. The search must then find a counterexample. */
  readonly without?: string;
  /** The behaviour that this variant models. */
  readonly meaning: string;
}

/** Each complete model, and for each rule a variant without it, which proves that it is needed. */
export const variants: readonly Variant[] = [
  { model: "refund", meaning: "refunds with all rules" },
  { model: "refund", without: "OLD_BASELINE", meaning: "the first send accepts any refunded sum as its baseline" },
  { model: "refund", without: "OLD_RESEND", meaning: "a partial refund is also sent again when a read shows no effect" },
  { model: "refund", without: "OLD_CODE_7", meaning: "code 7 ends a refund" },
  { model: "refund", without: "NO_WAIT", meaning: "a new refund may follow a rejected one immediately" },
  {
    model: "refund",
    without: "ANY_REFUSAL",
    meaning: "the rejection of the first send ends a refund that was sent again in the meantime",
  },
  { model: "key-lease", meaning: "key leases with all rules" },
  { model: "key-lease", without: "OWN_SETTING", meaning: "identity waits only for its own lease setting" },
  { model: "key-lease", without: "NO_MARGIN", meaning: "no margin for clocks of different speeds" },
  { model: "key-lease", without: "HEADERS_ONLY", meaning: "no second check when the body arrives late" },
  { model: "key-lease", without: "NO_SECOND_WAIT", meaning: "a repeated revocation returns without a wait" },
];
