import { plainText } from "@amana/pages";

/** A text with the direction of its first letter, for display inside text of another direction. */
export interface ShownText {
  readonly text: string;
  readonly direction: "ltr" | "rtl";
}

/** Characters of Unicode's block Tags, which are invisible in some fonts. */
const tags = /[\u{e0000}-\u{e007f}]/gu;
/** Halves of surrogate pairs whose other half is missing. */
const loneSurrogates = /\p{Cs}/gu;
/** Matches a text that consists only of invisible characters. */
const invisible = /^[\p{Cf}\p{Z}\p{Mn}\u115f\u1160\u3164\uffa0\u2800]*$/u;
const firstLetter = /\p{L}/u;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Returns a text of a caller for display, as one line that does not change the order of the text
 * around it. An invisible text becomes a dash.
 */
export function shownText(text: string): ShownText {
  const plain = plainText(text).replace(tags, "").replace(loneSurrogates, "\ufffd").trim();
  const [letter = ""] = firstLetter.exec(plain) ?? [];
  return { text: invisible.test(plain) ? "–" : plain, direction: rightToLeft.test(letter) ? "rtl" : "ltr" };
}
