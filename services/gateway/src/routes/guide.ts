import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { sendPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";

const folder = new URL("../pages/assets/guide/", import.meta.url);

/** The guide, as `src/guide.ts` made it of docs/guide/, read when it is asked for. */
export const guide = async (app: App): Promise<void> => {
  const files = new Set(readdirSync(folder));
  const page = async (name: string) => {
    if (!files.has(`${name}.html`)) throw Problem.of("not_found");
    const text = await readFile(new URL(`${name}.html`, folder), "utf8");
    const end = text.indexOf("\n");
    return { language: "en", title: text.slice(0, end), content: text.slice(end + 1), isDocument: true } as const;
  };

  app.get("/llms.txt", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send(await readFile(new URL("llms.txt", folder), "utf8")),
  );
  app.get("/docs/guide", { schema: { hide: true } }, async (_request, reply) => sendPage(reply, 200, await page("index")));
  app.get("/docs/guide/", { schema: { hide: true } }, async (_request, reply) => reply.redirect("/docs/guide", 308));
  app.get("/docs/guide/:name", { schema: { hide: true, params: Type.Object({ name: Type.String() }) } }, async (request, reply) =>
    sendPage(reply, 200, await page(request.params.name)),
  );
};
