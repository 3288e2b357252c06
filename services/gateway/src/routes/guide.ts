import { staticFile } from "@amana/pages";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { buildGuideIndex } from "../pages/guide-index.ts";
import { guidePage, loadGuide, readGuideFile } from "../pages/guide-pages.ts";
import { staticPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";

/**
 * Serves the guide that `src/guide.ts` generates from docs/guide/, and the search of the guide.
 * Each file is rendered at its first request.
 */
export const guide = async (app: App): Promise<void> => {
  const guidePages = loadGuide();
  const pages = new Map(guidePages.map(({ name }, position) => [name, staticPage(() => guidePage(guidePages, position))]));
  const page = (name: string) => {
    const send = pages.get(name);
    if (!send) throw Problem.of("not_found");
    return send;
  };
  const addFile = (path: string, type: string, load: () => string) =>
    app.get(
      path,
      staticFile(() => ({ type: `${type}; charset=utf-8`, content: load() })),
    );

  addFile("/llms.txt", "text/plain", () => readGuideFile("llms.txt"));
  addFile("/docs/search.js", "text/javascript", () => readGuideFile("search.js"));
  addFile("/docs/search.json", "application/json", () => buildGuideIndex(guidePages));
  app.get("/docs/guide", page("index"));
  app.get("/docs/guide/", async (_request, reply) => reply.redirect("/docs/guide", 308));
  app.get("/docs/guide/:name", { schema: { params: Type.Object({ name: Type.String() }) } }, async (request, reply) =>
    page(request.params.name)(request, reply),
  );
};
