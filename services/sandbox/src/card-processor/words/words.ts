import type { Language } from "@amana/pages";
import type { OutcomeName } from "../outcome.ts";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { fr, type Words } from "./fr.ts";

/** Every text of the payment page. A missing one fails the type check. */
export const words: Readonly<Record<Language, Words>> = { fr, ar, en };

/** What the cardholder is told of the outcome, if there is one. */
export const outcomeText = (language: Language, outcome?: OutcomeName) => (outcome ? words[language].outcomes[outcome] : "");
