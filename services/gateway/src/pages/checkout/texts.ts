import type { Language } from "@amana/pages";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { type CheckoutTexts, fr } from "./fr.ts";

/**
 * Version of the text `form.conditions`, with which the buyer accepts the conditions. Each payment
 * stores this version. A change of the text must also change the version.
 */
export const conditionsVersion = "2026-11";

/** Texts of the pages of payment links. */
export const checkoutTexts: Readonly<Record<Language, CheckoutTexts>> = { fr, ar, en };
