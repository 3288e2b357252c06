/** Markup that is inserted into a page without escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that `html` accepts. `undefined` and `false` render as nothing. */
type HtmlValue = Html | string | number | false | undefined | readonly Html[];

/**
 * Returns the template as markup. Escapes every value except `Html`. Attribute values in the
 * template must be in double quotes.
 */
export function html(pieces: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(String.raw({ raw: pieces }, ...values.map(render)));
}

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (value === undefined || value === false) return "";
  if (typeof value === "object") return value.map(render).join("\n");
  return escapeText(String(value));
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for an element or for an attribute value in quotes. */
export const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
