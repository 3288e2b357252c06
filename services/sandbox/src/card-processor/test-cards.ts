import type { OutcomeName } from "./outcome.ts";

export interface TestCard {
  readonly pan: string;
  /** Expiry as MM/YYYY. The sandbox compares it with the entered expiry and not with a clock. */
  readonly expiry: string;
  readonly cvv2: string;
  readonly outcome: OutcomeName;
}

const card = (pan: string, expiry: string, cvv2: string, outcome: OutcomeName): TestCard => ({ pan, expiry, cvv2, outcome });

export const testCards: readonly TestCard[] = [
  card("6280581110007215", "01/2027", "373", "accepted"),
  card("6280580610061011", "01/2027", "992", "accepted"),
  // The processor publishes no Edahabia test card. This number has a valid check digit.
  card("5078000110007214", "01/2027", "507", "accepted"),
  card("6280581110006712", "01/2027", "897", "card_blocked"),
  card("6280581110006316", "01/2027", "657", "card_lost"),
  card("6280581110006415", "01/2027", "958", "card_stolen"),
  card("6280581110006613", "08/2027", "411", "wrong_expiry"),
  card("6280581110003927", "01/2025", "834", "unknown_to_issuer"),
  card("6280580610061219", "01/2027", "049", "limit_exceeded"),
  card("6280580610061110", "01/2027", "260", "insufficient_balance"),
  card("6280581110006514", "01/2027", "205", "wrong_cvv2"),
  card("6280580610061318", "01/2027", "930", "password_blocked"),
  card("6280581110007017", "01/2027", "632", "not_authorised_online"),
  card("6280581110007116", "01/2027", "040", "not_active_online"),
  card("6280581110007314", "01/2027", "821", "terminal_ceiling"),
  card("6280580610056615", "12/2022", "428", "card_expired"),
];

/** Data about the payer that the real processor returns and that its callers must not store. */
export const cardholder = { name: "TITULAIRE DE TEST", ip: "192.0.2.44" } as const;

/** The 3-D Secure password of every test card. */
export const testPassword = "123456";
