import { type Language, parseLanguage } from "../../pages/language.ts";
import type { Application } from "../application.ts";
import type { Applications } from "../applications.ts";
import { type Words, words } from "./words/words.ts";

/** What every part of the verification page is drawn from. */
export interface View {
  readonly application: Application;
  readonly language: Language;
  readonly words: Words;
}

/** In the language that was asked for, else in the application's own. */
export function viewOf(applications: Applications, linkToken: string, wanted: string | undefined): View | undefined {
  const application = applications.byLinkToken(linkToken);
  if (!application) return undefined;
  const language = parseLanguage(wanted) ?? application.language;
  return { application, language, words: words[language] };
}

export const pathOf = ({ linkToken }: Application) => `/verify/${linkToken}`;

/** Where a form of the page posts to; the language goes along. */
export const actionOf = ({ application, language }: View, action: string) => `${pathOf(application)}/${action}?lang=${language}`;
