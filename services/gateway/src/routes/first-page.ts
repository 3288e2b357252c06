import type { App, Gateway } from "../gateway.ts";
import { firstPageTexts } from "../pages/first-page-texts.ts";
import { type Language, preferredLanguage } from "../pages/language.ts";
import { escapeText, sendPage } from "../pages/page.ts";

const paths = { guide: "/docs/guide", reference: "/docs", problems: "/problems" };

/** What this address is, its state, and where to go: a page for browsers, JSON for programs. */
export async function firstPage(app: App, { readiness, sandboxUrl }: Gateway): Promise<void> {
  const places = { ...paths, ...(sandboxUrl !== undefined && { sandbox: `${sandboxUrl}/` }) };

  app.get("/", { schema: { hide: true } }, async (request, reply) => {
    const missing = await readiness.missing();
    reply.header("vary", "accept, accept-language");
    const { accept, "accept-language": wishes } = request.headers;
    if (accept?.includes("text/html")) {
      const language = preferredLanguage(wishes);
      const { title } = firstPageTexts[language];
      return sendPage(reply, 200, { language, title, content: contentOf(language, missing, places) });
    }
    // Isolated: the names keep their order in a sentence that runs the other way.
    const state = missing.length === 0 ? { status: "ok" } : { status: "unavailable", missing };
    return reply.send({ name: "Amana", state, api: "/api/v1", ...places, openapi: "/openapi.json", llms: "/llms.txt" });
  });
}

function contentOf(language: Language, missing: readonly string[], places: typeof paths & { sandbox?: string }): string {
  const texts = firstPageTexts[language];
  // Isolated: the names keep their order in a sentence that runs the other way.
  const state = missing.length === 0 ? texts.ready : `${texts.notReady} \u2066${missing.join(", ")}\u2069`;
  const items = Object.entries(places).map(([place, address]) => {
    const [name, what] = texts.places[place as keyof typeof texts.places];
    return `<li><a href="${escapeText(address)}">${escapeText(name)}</a><p>${escapeText(what)}</p></li>`;
  });
  return `<p>${escapeText(texts.what)}</p>
<p class="state${missing.length === 0 ? "" : " unavailable"}">${escapeText(state)}</p>
<ul class="places">
${items.join("\n")}
</ul>`;
}
