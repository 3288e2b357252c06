import { type Html, html, type Language, preferredLanguage } from "@amana/pages";
import type { App, Gateway } from "../gateway.ts";
import { firstPageTexts } from "../pages/first-page-texts.ts";
import { sendPage } from "../pages/page.ts";

const paths = { guide: "/docs/guide", reference: "/docs", problems: "/problems" };

/**
 * Serves the state of the API and links to its documents, as a page to browsers and as JSON to
 * other programs.
 */
export async function firstPage(app: App, { readiness, sandboxUrl }: Gateway): Promise<void> {
  const links = { ...paths, ...(sandboxUrl !== undefined && { sandbox: `${sandboxUrl}/` }) };

  app.get("/", async (request, reply) => {
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

function contentOf(language: Language, missing: readonly string[], links: typeof paths & { sandbox?: string }): Html {
  const texts = firstPageTexts[language];
  // The control characters isolate the names, so that the names keep their order in right-to-left
  // text.
  const state = missing.length === 0 ? texts.ready : `${texts.notReady} \u2066${missing.join(", ")}\u2069`;
  const items = Object.entries(links).map(([place, address]) => {
    const [name, description] = texts.links[place as keyof typeof texts.links];
    return html`<li><a href="${address}">${name}</a><p>${description}</p></li>`;
  });
  return html`<p>${texts.description}</p>
<p class="state${missing.length > 0 && " unavailable"}">${state}</p>
<ul class="places">
${items}
</ul>`;
}
