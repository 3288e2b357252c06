import type { App, Gateway } from "../gateway.ts";
import { firstPageTexts } from "../pages/first-page-texts.ts";
import { type Language, preferredLanguage } from "../pages/language.ts";
import { escapeText, sendPage } from "../pages/page.ts";

const paths = { guide: "/docs/guide", reference: "/docs", problems: "/problems" };

/**
 * Serves the service name, its state and links: as a page to browsers, as JSON to other clients.
 */
export async function firstPage(app: App, { readiness, sandboxUrl }: Gateway): Promise<void> {
  const links = { ...paths, ...(sandboxUrl !== undefined && { sandbox: `${sandboxUrl}/` }) };

  app.get("/", { schema: { hide: true } }, async (request, reply) => {
    const missing = await readiness.missing();
    reply.header("vary", "accept, accept-language");
    const { accept, "accept-language": acceptLanguage } = request.headers;
    if (accept?.includes("text/html")) {
      const language = preferredLanguage(acceptLanguage);
      const { title } = firstPageTexts[language];
      return sendPage(reply, 200, { language, title, content: contentOf(language, missing, links) });
    }
    const state = missing.length === 0 ? { status: "ok" } : { status: "unavailable", missing };
    return reply.send({ name: "Amana", state, api: "/api/v1", ...links, openapi: "/openapi.json", llms: "/llms.txt" });
  });
}

function contentOf(language: Language, missing: readonly string[], links: typeof paths & { sandbox?: string }): string {
  const texts = firstPageTexts[language];
  // U+2066 and U+2069 keep the order of the names in a right-to-left sentence.
  const state = missing.length === 0 ? texts.ready : `${texts.notReady} \u2066${missing.join(", ")}\u2069`;
  const items = Object.entries(links).map(([link, address]) => {
    const [name, description] = texts.places[link as keyof typeof texts.places];
    return `<li><a href="${escapeText(address)}">${escapeText(name)}</a><p>${escapeText(description)}</p></li>`;
  });
  return `<p>${escapeText(texts.what)}</p>
<p class="state${missing.length === 0 ? "" : " unavailable"}">${escapeText(state)}</p>
<ul class="places">
${items.join("\n")}
</ul>`;
}
