interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly name: string;
  readonly refund_id?: string | undefined;
}

/** What happens within a millisecond: each may be brought about by those before it. */
const causes = [
  ...["payment PENDING", "processor_call", "payment PAID"],
  ...["refund REQUESTED", "processor_call of a refund", "refund SENT", "processor_call REFUND", "refund"],
  ...["payment", "event PAYMENT_COMPLETED", "event", "delivery_attempt", "next_attempt"],
];

function causeOf({ kind, name, refund_id }: Entry): number {
  const place = causes.indexOf(`${kind} ${name}`);
  return place >= 0 ? place : causes.indexOf(kind === "processor_call" && refund_id ? `${kind} of a refund` : kind);
}

/** Sorts a timeline: by time, then causes before what they bring about. */
export const byTimeAndCause = (a: Entry, b: Entry): number => Date.parse(a.at) - Date.parse(b.at) || causeOf(a) - causeOf(b);
