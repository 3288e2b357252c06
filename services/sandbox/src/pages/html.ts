/** Markup that is safe to put into a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = Html | string | number | false | undefined | readonly Html[];

/** Everything put between the pieces is escaped, unless it is Html itself. */
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

const escapeText = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
