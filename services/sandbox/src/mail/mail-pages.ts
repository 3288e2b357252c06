import { formatDate, type Html, html, parseLanguage, preferredLanguage } from "@amana/pages";
import type { FastifyInstance } from "fastify";
import { refuse } from "../edge.ts";
import { sendPage, type View } from "../pages/layout.ts";
import type { Mail, Mailbox } from "./mailbox.ts";
import { words } from "./words.ts";

type MailView = View<(typeof words)["en"]>;

/** Serves the received e-mails as a page and as JSON, and serves their attachments. */
export async function mailPages(app: FastifyInstance, { mails, port }: Mailbox): Promise<void> {
  app.get<{ Querystring: { lang?: string } }>("/mail", ({ query: { lang }, headers }, reply) => {
    const language = parseLanguage(lang) ?? preferredLanguage(headers["accept-language"]);
    const view: MailView = { language, words: words[language], path: "/mail" };
    const { title, intro, none, off } = view.words;
    const main = html`<h1>${title}</h1>
<p class="opening">${intro}</p>
${port === undefined && html`<p>${off}</p>`}
${mails.length === 0 ? html`<p>${none}</p>` : mails.map((mail) => card(view, mail))}`;
    return sendPage(reply, view, main);
  });

  app.get("/mail.json", () => mails.map(toJson));

  app.get<{ Params: { id: string; number: string } }>("/mail/:id/attachments/:number", ({ params }, reply) => {
    const mail = mails.find(({ id }) => id === params.id);
    const attachment = /^\d{1,3}$/.test(params.number) ? mail?.attachments[Number(params.number)] : undefined;
    if (!attachment) return refuse(reply, 404, "not_found", "There is no such attachment. GET /mail.json lists all of them.");
    return reply
      .header("content-type", attachment.contentType)
      .header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(attachment.filename)}`)
      .header("x-content-type-options", "nosniff")
      .send(attachment.content);
  });
}

const toJson = ({ id, atMs, from, to, subject, text, html: markup, attachments }: Mail) => ({
  id,
  at: new Date(atMs).toISOString(),
  from,
  to,
  subject,
  text,
  html: markup,
  attachments: attachments.map(({ filename, contentType, content }) => ({
    filename,
    content_type: contentType,
    size: content.length,
  })),
});

/** Renders only the text part of an e-mail, because the HTML part may contain any markup. */
function card({ words, language }: MailView, { id, atMs, from, to, subject, text, attachments }: Mail): Html {
  const row = (label: string, value: string) => html`<div><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`;
  const link = (filename: string, number: number) =>
    html`<li><a href="/mail/${id}/attachments/${number}"><bdi>${filename}</bdi></a></li>`;
  return html`<section class="card mail">
<h2><bdi>${subject}</bdi></h2>
<dl>
${row(words.from, from)}
${row(words.to, to)}
${row(words.at, formatDate(atMs, language))}
</dl>
<p class="mail-text" dir="auto">${text}</p>
${
  attachments.length > 0 &&
  html`<h3>${words.attachments}</h3>
<ul class="latest">${attachments.map(({ filename }, number) => link(filename, number))}</ul>`
}
</section>`;
}
