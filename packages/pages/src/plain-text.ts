/**
 * Control characters, the controls of bidirectional text (UAX #9), and characters without width.
 * U+200C and U+200D are kept, because Arabic script and emoji need them.
 */
const hidden = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gu;

/**
 * Returns a text of a business or a buyer without characters that could change the order of the
 * text around it or hide parts of it. Line breaks become spaces.
 */
export const plainText = (text: string): string => text.replace(/[\r\n\t]+/g, " ").replace(hidden, "");
