import type { Html } from "@amana/pages";
import { type Language, parseLanguage, privateHeaders } from "@amana/pages";
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
  /** What the last part of the link stands for, with the language it was made in. */
  find(id: string): Omit<V, "words" | "path"> | undefined;
  unknown(reply: FastifyReply, view: View<V["words"]>): FastifyReply;
}

/** The routes of a flow below its link, all in the language that was asked for. */
export function hostedPage<V extends View>(app: FastifyInstance, { path, words, find, unknown }: Flow<V>) {
  type Handle = (reply: FastifyReply, view: V, request: FastifyRequest<PageRoute>) => unknown;
  return (method: "GET" | "POST", step: string, handle: Handle) =>
    app.route<PageRoute>({
      method,
      url: `${path}/:id${step}`,
      handler(request, reply) {
        const { id } = request.params;
        const found = find(id);
        const language = parseLanguage(request.query.lang) ?? found?.language ?? "fr";
        const view = { language, words: words[language], path: `${path}/${encodeURIComponent(id)}` };
        return found ? handle(reply, { ...found, ...view } as V, request) : unknown(reply, view);
      },
    });
}

/** After every post: going back, reloading or pressing twice only shows how things stand. */
export const backToPage = (reply: FastifyReply, { path, language }: View) =>
  reply.headers(privateHeaders).redirect(`${path}?lang=${language}`, 303);

/** For a link that leads nowhere: its own title is the whole one. */
export const sendUnknown = (reply: FastifyReply, view: View<{ readonly unknownTitle: string }>, main: Html) =>
  sendPage(reply, { ...view, words: { ...view.words, title: view.words.unknownTitle } }, main, { status: 404 });
