import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { sendPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";
import { problemAdvice } from "../problem-catalogue.ts";

/** What the `type` of a problem document leads to. */
export const problemPages = async (app: App): Promise<void> => {
  app.get("/:code", { schema: { hide: true, params: Type.Object({ code: Type.String() }) } }, async (request, reply) => {
    const advice = problemAdvice(request.params.code);
    if (!advice) throw Problem.of("not_found");
    const [title, text] = advice;
    return sendPage(reply, 200, { language: "en", title, paragraphs: [text] });
  });
};
