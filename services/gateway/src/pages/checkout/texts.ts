import type { Language } from "@amana/pages";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { type CheckoutTexts, fr } from "./fr.ts";

/**
 * Version of the text with which the buyer accepts the conditions. It is stored with the payment.
 * Change it together with `form.conditions`.
 */
export const conditionsVersion = "2026-11";

/** Texts of the pages of payment links. */
export const checkoutTexts: Readonly<Record<Language, CheckoutTexts>> = { fr, ar, en };
