import type { Language } from "@amana/pages";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { fr, type Words } from "./fr.ts";

/** Every text of the verification flow. A missing one fails the type check. */
export const words: Readonly<Record<Language, Words>> = { fr, ar, en };
