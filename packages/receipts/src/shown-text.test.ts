import { expect, test } from "vitest";
import { hostileTexts } from "../test/a-receipt.ts";
import { shownText } from "./shown-text.ts";

test.each([
  ["removes characters that change the order of other text", hostileTexts.overrides, "abcdcbaisolatedend"],
  ["returns one line", hostileTexts.lines, "one twothreefour five"],
  ["replaces a lone surrogate", hostileTexts.lone, "half \ufffd emoji"],
  ["returns a dash for an invisible text", hostileTexts.invisible, "–"],
  ["returns a dash for an empty text", "", "–"],
  ["keeps markup as it is", hostileTexts.markup, hostileTexts.markup],
  ["keeps the joiners of Arabic words and emoji", "می\u200cخواهم 👨\u200d👩", "می\u200cخواهم 👨\u200d👩"],
])("shownText %s", (_behaviour, text, expected) => {
  expect(shownText(text).text).toBe(expected);
});

test.each([
  ["12 مكتبة", "rtl"],
  ["12 tickets مكتبة", "ltr"],
  ["628058**7215", "ltr"],
] as const)("shownText determines the writing direction by the first letter of %j", (text, direction) => {
  expect(shownText(text)).toEqual({ text, direction });
});
