import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Html, staticFile } from "@amana/pages";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { staticPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";

const folder = new URL("../pages/assets/guide/", import.meta.url);

/** Serves the guide that `src/guide.ts` made of docs/guide/. The first request reads each page. */
export const guide = async (app: App): Promise<void> => {
  const hidden = { schema: { hide: true } };
  const names = readdirSync(folder).filter((file) => file.endsWith(".html"));
  const pages = new Map(names.map((file) => [file.slice(0, -".html".length), staticPage(() => load(file))]));
  const page = (name: string) => {
    const send = pages.get(name);
    if (!send) throw Problem.of("not_found");
    return send;
  };

  app.get(
    "/llms.txt",
    hidden,
    staticFile(async () => ({ type: "text/plain; charset=utf-8", content: await readFile(new URL("llms.txt", folder)) })),
  );
  app.get("/docs/guide", hidden, page("index"));
  app.get("/docs/guide/", hidden, async (_request, reply) => reply.redirect("/docs/guide", 308));
  app.get("/docs/guide/:name", { schema: { hide: true, params: Type.Object({ name: Type.String() }) } }, async (request, reply) =>
    page(request.params.name)(request, reply),
  );
};

async function load(file: string) {
  const text = await readFile(new URL(file, folder), "utf8");
  const end = text.indexOf("\n");
  return { language: "en", title: text.slice(0, end), content: new Html(text.slice(end + 1)), isDocument: true } as const;
}
