export interface Outcome {
  readonly actionCode: number;
  /** Response code of the issuer. Absent if the issuer did not respond. */
  readonly respCode?: string;
}

export const outcomes = {
  accepted: { actionCode: 0, respCode: "00" },
  card_blocked: { actionCode: 203, respCode: "37" },
  card_lost: { actionCode: 208, respCode: "41" },
  card_stolen: { actionCode: 209, respCode: "43" },
  wrong_expiry: { actionCode: -1, respCode: "AD" },
  unknown_to_issuer: { actionCode: 125, respCode: "62" },
  limit_exceeded: { actionCode: 121, respCode: "61" },
  insufficient_balance: { actionCode: 116, respCode: "51" },
  wrong_cvv2: { actionCode: 111, respCode: "AB" },
  password_blocked: { actionCode: 2003 },
  not_authorised_online: { actionCode: 2003 },
  not_active_online: { actionCode: -1, respCode: "AE" },
  terminal_ceiling: { actionCode: -2006 },
  card_expired: { actionCode: 101, respCode: "33" },
  cancelled: { actionCode: 10 },
  session_expired: { actionCode: -2007 },
} as const satisfies Record<string, Outcome>;

export type OutcomeName = keyof typeof outcomes;

/** Returns the outcome. Without a name, the action code is -100: there was no attempt to pay. */
export const outcomeOf = (name?: OutcomeName): Outcome => (name ? outcomes[name] : { actionCode: -100 });
