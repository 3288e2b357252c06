import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { sendPage } from "../pages/page.ts";
import { problemAdvice } from "../problem-catalogue.ts";
import { problems } from "../problems.ts";

/** What the `type` of a problem document leads to. */
export const problemPages = async (app: App): Promise<void> => {
  app.get("/:code", { schema: { hide: true, params: Type.Object({ code: Type.String() }) } }, async (request, reply) => {
    const advice = problemAdvice(request.params.code);
    if (!advice) throw problems.notFound();
    const [title, text] = advice;
    return sendPage(reply, 200, { language: "en", title, paragraphs: [text] });
  });
};
