import { type Html, type Language, parseLanguage, privateHeaders } from "@amana/pages";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendPage, type View } from "./layout.ts";

interface PageRoute {
  Params: { id: string; action: string };
  Querystring: { lang?: string; saved?: string };
  Body: Record<string, unknown> | null;
}

interface Flow<V extends View> {
  readonly path: string;
  readonly words: Readonly<Record<Language, V["words"]>>;
  /** Returns the resource that the last path segment of a link identifies, with its language. */
  find(id: string): Omit<V, "words" | "path"> | undefined;
  unknown(reply: FastifyReply, view: View<V["words"]>): FastifyReply;
}

/**
 * Returns a function that registers the routes of a flow. The parameter `lang` overrides the
 * language of the resource.
 */
export function hostedPage<V extends View>(app: FastifyInstance, { path, words, find, unknown }: Flow<V>) {
  type Handle = (reply: FastifyReply, view: V, request: FastifyRequest<PageRoute>) => unknown;
  return (method: "GET" | "POST", step: string, handle: Handle) =>
    app.route<PageRoute>({
      method,
      url: `${path}/:id${step}`,
      handler(request, reply) {
        const { id } = request.params;
        const pageData = find(id);
        const language = parseLanguage(request.query.lang) ?? pageData?.language ?? "fr";
        const view = { language, words: words[language], path: `${path}/${encodeURIComponent(id)}` };
        return pageData ? handle(reply, { ...pageData, ...view } as V, request) : unknown(reply, view);
      },
    });
}

/** Redirects to the page after a POST, so that a reload or Back does not post again. */
export const backToPage = (reply: FastifyReply, { path, language }: View) =>
  reply.headers(privateHeaders).redirect(`${path}?lang=${language}`, 303);

/** Sends the page for an unknown link, with status 404 and its own title. */
export const sendUnknown = (reply: FastifyReply, view: View<{ readonly unknownTitle: string }>, main: Html) =>
  sendPage(reply, { ...view, words: { ...view.words, title: view.words.unknownTitle } }, main, { status: 404 });
