interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly name: string;
  readonly refund_id?: string;
}

/** Causal order of entries with the same millisecond: a cause comes before its effects. */
const causes = [
  ...["payment PENDING", "processor_call", "payment PAID"],
  ...["refund REQUESTED", "processor_call of a refund", "refund SENT", "processor_call REFUND", "refund"],
  ...["payment", "event PAYMENT_COMPLETED", "event", "delivery_attempt", "next_attempt"],
];

function causeIndex({ kind, name, refund_id }: Entry): number {
  const position = causes.indexOf(`${kind} ${name}`);
  return position >= 0 ? position : causes.indexOf(kind === "processor_call" && refund_id ? `${kind} of a refund` : kind);
}

/** Compares timeline entries by time. In the same millisecond, a cause precedes its effects. */
export const compareByTimeAndCause = (a: Entry, b: Entry): number =>
  Date.parse(a.at) - Date.parse(b.at) || causeIndex(a) - causeIndex(b);
