import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";

/** A page of a payment link. */
export interface LoadedPage {
  readonly status: number;
  readonly html: string;
  /** Address to which the page redirects. */
  readonly location: string | undefined;
}

/** Form values for the page of a payment link, by input name. */
export type FormValues = Readonly<Record<string, string>>;

/**
 * A buyer on the pages of one payment link, without a browser. It keeps the cookie of the link and
 * solves the challenge of the form, as the script of the page does.
 */
export class Buyer {
  readonly #url: string;
  #cookie: string | undefined;

  /** `url` is the address of the link. */
  constructor(url: string) {
    this.#url = url;
  }

  /** Reads the page of the link. `query` begins with a question mark. */
  open(query = ""): Promise<LoadedPage> {
    return this.#send(`${this.#url}${query}`);
  }

  /** Reads another page of the link, for example the result. */
  read(url: string): Promise<LoadedPage> {
    return this.#send(new URL(url, this.#url).href);
  }

  /**
   * Sends the form of a page with these values, and accepts the conditions. A second `submit` of
   * the same page sends the same form token.
   */
  async submit({ html }: LoadedPage, values: FormValues = {}): Promise<LoadedPage> {
    const formToken = /name="form_token" value="([\w-]+)"/.exec(html)?.[1];
    if (formToken === undefined) throw new Error(`The page has no form:\n${html}`);
    const body = new URLSearchParams({ form_token: formToken, lang: "en", conditions: "1", ...values });
    if (html.includes('name="begin_again"')) body.set("begin_again", "1");
    const challengeText = / challenge="([^"]*)"/.exec(html)?.[1];
    if (challengeText !== undefined) {
      const challenge = JSON.parse(challengeText.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
      const solution = await solveChallenge({ challenge, deriveKey });
      body.set("altcha", Buffer.from(JSON.stringify({ challenge, solution })).toString("base64"));
    }
    return await this.#send(this.#url, { method: "POST", body });
  }

  async #send(url: string, init: RequestInit = {}): Promise<LoadedPage> {
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: this.#cookie === undefined ? {} : { cookie: this.#cookie },
      signal: AbortSignal.timeout(45_000),
    });
    const cookie = response.headers.get("set-cookie");
    if (cookie !== null) this.#cookie = cookie.split(";", 1)[0];
    const location = response.headers.get("location") ?? undefined;
    return { status: response.status, html: await response.text(), location };
  }
}
