import { expect, test } from "vitest";
import { countries, isCountryAlpha3 } from "./countries.ts";

test("`countries` has 249 entries, each with an alpha-2, an alpha-3 and a numeric code that no other entry has", () => {
  expect(countries).toHaveLength(249);
  for (const code of ["alpha2", "alpha3", "numeric"] as const)
    expect(new Set(countries.map((country) => country[code])).size).toBe(249);
  for (const { alpha2, alpha3, numeric } of countries) {
    expect(alpha2).toMatch(/^[A-Z]{2}$/);
    expect(alpha3).toMatch(/^[A-Z]{3}$/);
    expect(numeric >= 4 && numeric <= 894).toBe(true);
  }
});

test.each([
  ["DZ", "DZA", 12],
  ["AF", "AFG", 4],
  ["FR", "FRA", 250],
  ["GB", "GBR", 826],
  ["US", "USA", 840],
  ["DE", "DEU", 276],
  ["CH", "CHE", 756],
  ["PS", "PSE", 275],
  ["EH", "ESH", 732],
  ["SS", "SSD", 728],
  ["RS", "SRB", 688],
  ["SB", "SLB", 90],
  ["AX", "ALA", 248],
  ["ZW", "ZWE", 716],
])("`countries` contains the country %s with the codes %s and %i", (alpha2, alpha3, numeric) => {
  expect(countries.find((country) => country.alpha2 === alpha2)).toEqual({ alpha2, alpha3, numeric });
});

test("the numeric codes in `countries` have the same sum as the numeric codes of ISO 3166-1", () => {
  expect(countries.reduce((total, { numeric }) => total + numeric, 0)).toBe(108_025);
});

test("isCountryAlpha3 rejects codes that ISO 3166-1 does not officially assign", () => {
  for (const code of ["", "dza", "XKX", "EUR", "ZZZ", "GBD", "ANT", "DZA "]) expect(isCountryAlpha3(code)).toBe(false);
  const { alpha2, numeric } = {
    alpha2: countries.map((country) => country.alpha2),
    numeric: countries.map((country) => country.numeric),
  };
  for (const code of ["", "dz", "XK", "EU", "UK", "ZZ", "AN"]) expect(alpha2).not.toContain(code);
  for (const code of [0, 1, 12.5, -12, 280, 900, 999, 1012]) expect(numeric).not.toContain(code);
  expect(isCountryAlpha3("DZA") && alpha2.includes("DZ") && numeric.includes(12)).toBe(true);
});
