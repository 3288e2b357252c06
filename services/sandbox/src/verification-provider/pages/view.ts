import type { Language } from "../../pages/language.ts";
import type { Application } from "../application.ts";
import type { Words } from "./words/words.ts";

/** What every part of the verification page is drawn from. */
export interface View {
  readonly application: Application;
  readonly language: Language;
  readonly words: Words;
}

export const pathOf = ({ linkToken }: Application) => `/verify/${linkToken}`;

/** Where a form of the page posts to; the language goes along. */
export const actionOf = ({ application, language }: View, action: string) => `${pathOf(application)}/${action}?lang=${language}`;
