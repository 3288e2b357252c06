import { expect, test } from "vitest";
import { matchCard } from "./card-entry.ts";

const entry = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373" };

test.each([
  ["6280 5811 1000 7215", "01/2027"],
  ["6280-5811-1000-7215", "01/27"],
  [" 6280581110007215 ", "01 / 27"],
  ["٦٢٨٠٥٨١١١٠٠٠٧٢١٥", "٠١/٢٠٢٧"],
  ["6280581110007215", "012027"],
])("matchCard ignores separators and accepts Arabic-Indic digits: card number %s, expiry %s", (pan, expiry) => {
  expect(matchCard({ ...entry, pan, expiry })).toMatchObject({ card: { outcome: "accepted" } });
});

test.each([
  [{ pan: "" }, { pan: "pan_missing" }],
  [{ pan: "4111111111111111" }, { pan: "pan_not_test_card" }],
  [{ expiry: "13/2027" }, { expiry: "expiry_missing" }],
  [{ expiry: "02/2027" }, { expiry: "expiry_mismatch" }],
  [{ cvv2: "37" }, { cvv2: "cvv2_missing" }],
  [{ cvv2: "374" }, { cvv2: "cvv2_mismatch" }],
  [
    { pan: "1", expiry: "", cvv2: "" },
    { pan: "pan_not_test_card", expiry: "expiry_missing", cvv2: "cvv2_missing" },
  ],
])("matchCard returns the problem of each wrong field of %j", (changes, problems) => {
  expect(matchCard({ ...entry, ...changes })).toEqual({ problems });
});
