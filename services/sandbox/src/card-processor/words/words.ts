import type { Language } from "@amana/pages";
import { withCommonWords } from "../../pages/words.ts";
import type { OutcomeName } from "../outcome.ts";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { fr, type Words } from "./fr.ts";

/** All texts of the payment page. A missing text fails the type check. */
export const words = withCommonWords<Words>({ fr, ar, en });

/** Returns the text of the outcome for the cardholder, or "" without an outcome. */
export const outcomeText = (language: Language, outcome?: OutcomeName) => (outcome ? words[language].outcomes[outcome] : "");
