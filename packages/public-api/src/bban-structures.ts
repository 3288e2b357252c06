/**
 * Structure of the BBAN, the part of an IBAN after country code and check digits. Source: the SWIFT
 * IBAN registry (ISO 13616). Algeria has no entry there; its IBANs have 26 characters. "4a 14n"
 * means four capital letters and fourteen digits; "c" means letters or digits. Adjacent parts of
 * one kind are merged. The bank code of Brazil may contain letters, as company numbers in Brazil
 * do.
 */
const table = `
  AD 8n 12c, AE 19n, AL 8n 16c, AT 16n, AX 14n, AZ 4a 20c, BA 16n, BE 12n, BG 4a 6n 8c, BH 4a 14c, BI 23n,
  BL 10n 11c 2n, BR 8c 15n 2c, BY 4c 4n 16c, CH 5n 12c, CR 18n, CY 8n 16c, CZ 20n, DE 18n, DJ 23n, DK 14n, DO 4c 20n,
  DZ 22n, EE 16n, EG 25n, ES 20n, FI 14n, FK 2a 12n, FO 14n, FR 10n 11c 2n, GB 4a 14n, GE 2a 16n, GF 10n 11c 2n,
  GG 4a 14n, GI 4a 15c, GL 14n, GP 10n 11c 2n, GR 7n 16c, GT 24c, HN 4a 20n, HR 17n, HU 24n, IE 4a 14n, IL 19n,
  IM 4a 14n, IQ 4a 15n, IS 22n, IT 1a 10n 12c, JE 4a 14n, JO 4a 4n 18c, KW 4a 22c, KZ 3n 13c, LB 4n 20c, LC 4a 24c,
  LI 5n 12c, LT 16n, LU 3n 13c, LV 4a 13c, LY 21n, MC 10n 11c 2n, MD 20c, ME 18n, MF 10n 11c 2n, MK 3n 10c 2n, MN 16n,
  MQ 10n 11c 2n, MR 23n, MT 4a 5n 18c, MU 4a 19n 3a, NC 10n 11c 2n, NI 4a 20n, NL 4a 10n, NO 11n, OM 3n 16c,
  PF 10n 11c 2n, PK 4a 16c, PL 24n, PM 10n 11c 2n, PS 4a 21c, PT 21n, QA 4a 21c, RE 10n 11c 2n, RO 4a 16c, RS 18n,
  RU 14n 15c, SA 2n 18c, SC 4a 20n 3a, SD 14n, SE 20n, SI 15n, SK 20n, SM 1a 10n 12c, SO 19n, ST 21n, SV 4a 20n,
  TF 10n 11c 2n, TL 19n, TN 20n, TR 6n 16c, UA 6n 19c, VA 18n, VG 4a 16n, WF 10n 11c 2n, XK 16n, YE 4a 4n 18c,
  YT 10n 11c 2n`;

export const bbanStructures: Readonly<Record<string, string>> = Object.fromEntries(
  table.split(",").map((entry) => [entry.trim().slice(0, 2), entry.trim().slice(3)]),
);
