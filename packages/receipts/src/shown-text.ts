/** A text with the direction of its first letter, for display inside text of another direction. */
export interface ShownText {
  readonly text: string;
  readonly direction: "ltr" | "rtl";
}

/** Control characters, and separators of lines and paragraphs. */
const breaks = /[\p{Cc}\u2028\u2029]+/gu;
/** Characters that change the order of the text around them (UAX #9), and invisible tag characters. */
const orderControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
/** Parts of a character that is not complete. */
const loneSurrogates = /\p{Cs}/gu;
/** A text of these characters only is invisible. */
const invisible = /^[\p{Cf}\p{Z}\p{Mn}\u115f\u1160\u3164\uffa0\u2800]*$/u;
const firstLetter = /\p{L}/u;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Returns a text of a caller as one line that does not change the order of the text around it.
 * Joiners remain, because Arabic letters and emoji need them. An invisible text becomes a dash.
 */
export function plainText(text: string): string {
  const line = text.replace(breaks, " ").replace(orderControls, "").replace(loneSurrogates, "\ufffd").trim();
  return invisible.test(line) ? "–" : line;
}

/** Returns a text of a caller for display. */
export function shownText(text: string): ShownText {
  const plain = plainText(text);
  const [letter = ""] = firstLetter.exec(plain) ?? [];
  return { text: plain, direction: rightToLeft.test(letter) ? "rtl" : "ltr" };
}
