import { randomInt } from "node:crypto";
import { formatAmount, type Html, html, parseLanguage, preferredLanguage } from "@amana/pages";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Order } from "../card-processor/order.ts";
import type { Context } from "../context.ts";
import { query } from "../database.ts";
import { sendPage } from "../pages/layout.ts";
import type { Application } from "../verification-provider/application.ts";
import { type ControlCall, createControlCalls } from "./control-call.ts";
import { type FirstPageView, forms } from "./forms.ts";
import { words } from "./words.ts";

const latestCount = 5;

interface Route {
  Querystring: { lang?: string };
  Body: Record<string, unknown> | null;
}

/**
 * Serves a page with a form for each control call. A button sends the call that a program would
 * send, and the page shows the call and its response.
 */
export async function firstPage(app: FastifyInstance, context: Context): Promise<void> {
  const { clock, faults, config, publicUrl } = context;
  const calls = createControlCalls(context);
  const latest = createLatest(context);

  const viewOf = ({ query: { lang }, headers }: FastifyRequest<Route>): FirstPageView => {
    const language = parseLanguage(lang) ?? preferredLanguage(headers["accept-language"]);
    return { language, words: words[language], path: "/", nowMs: clock.nowMs(), faults: faults.list() };
  };
  const show = (reply: FastifyReply, view: FirstPageView, result?: Html, status = 200) => {
    const { words } = view;
    const main = html`<h1>${words.title}</h1>
<p class="opening">${words.intro}</p>
${result}
${latest(view)}
${forms(view)}`;
    return sendPage(reply, view, main, { status });
  };

  app.get<Route>("/", (request, reply) => show(reply, viewOf(request)));

  app.post<Route>("/", async (request, reply) => {
    const readField = (name: string) =>
      String(request.body?.[name] ?? "")
        .trim()
        .slice(0, 2_048);
    const action = readField("do");
    if (action === "openPage") {
      const formUrl = await registerOrder(readField("amount"));
      if (formUrl) return reply.redirect(`${formUrl}?lang=${viewOf(request).language}`, 303);
    }
    const call = Object.hasOwn(calls, action) ? calls[action]?.(readField) : undefined;
    if (!call) return show(reply, viewOf(request), undefined, 422);
    if (action === "tester") return reply.redirect(`${call.url}?lang=${viewOf(request).language}`, 303);
    const response = await app.inject(call);
    const view = viewOf(request);
    return show(reply, view, resultOf(view, call, response.statusCode, response.json()), response.statusCode);
  });

  /**
   * Registers an order whose return URL is this page instead of a shop. Returns the path of its
   * card form.
   */
  async function registerOrder(amount: string): Promise<string | undefined> {
    const parameters = {
      userName: config.username,
      password: config.password,
      orderNumber: String(randomInt(1_000_000_000, 10_000_000_000)),
      amount: /^\d{1,9}(\.\d{1,2})?$/.test(amount) ? String(Math.round(Number(amount) * 100)) : amount,
      currency: "012",
      returnUrl: `${publicUrl()}/`,
      jsonParams: JSON.stringify({ force_terminal_id: "E010101010" }),
    };
    const response = await app.inject({ method: "POST", url: "/payment/rest/register.do", ...asForm(parameters) });
    const { formUrl } = response.statusCode === 200 ? response.json<{ formUrl?: string }>() : {};
    return formUrl && new URL(formUrl).pathname;
  }
}

const asForm = (fields: Record<string, string>) => ({
  payload: new URLSearchParams(fields).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

function resultOf({ words }: FirstPageView, { method, url, payload }: ControlCall, status: number, response: object): Html {
  const redirectUrl = (response as { redirect_url?: string }).redirect_url;
  return html`<section class="card" aria-labelledby="result" tabindex="-1" autofocus>
<h2 id="result">${words.result}</h2>
<pre dir="ltr" tabindex="0">${method} ${url}${payload && `\n${JSON.stringify(payload, null, 2)}`}</pre>
<pre dir="ltr" tabindex="0">${status}\n${JSON.stringify(response, null, 2)}</pre>
${redirectUrl !== undefined && html`<p><a class="button secondary" href="${redirectUrl}">${words.goOn}</a></p>`}
</section>`;
}

/** Renders the newest orders and applications with links to their pages. */
function createLatest({ database }: Context) {
  const newest = (table: string) =>
    query<{ body: string }>(database, `select body from ${table} order by rowid desc limit ${latestCount}`);
  const [orders, applications] = [newest("payment_order"), newest("kyc_application")];
  return ({ words, language }: FirstPageView): Html => {
    const things = {
      payments: orders().map(({ body }) => JSON.parse(body) as Order),
      verifications: applications().map(({ body }) => JSON.parse(body) as Application),
    };
    const item = (href: string, text: string) => html`<li><a href="${href}?lang=${language}"><bdi>${text}</bdi></a></li>`;
    const list = (title: string, items: Html[]) =>
      html`<h2>${title}</h2>${items.length > 0 ? html`<ul class="latest">${items}</ul>` : html`<p>${words.none}</p>`}`;
    return html`<section class="card">
${list(
  words.payments,
  things.payments.map(({ orderId, orderNumber, amountMinor }) =>
    item(`/payment/pay/${orderId}`, `${orderNumber} · ${formatAmount(amountMinor, language)}`),
  ),
)}
${list(
  words.verifications,
  things.verifications.map(({ linkToken, reference, status }) =>
    item(`/sandbox/kyc/${linkToken}/tester`, `${reference} · ${status}`),
  ),
)}
<p class="latest"><a href="/mail?lang=${language}">${words.mails}</a></p>
<datalist id="orders">${things.payments.map(({ orderId, orderNumber }) => html`<option value="${orderId}">${orderNumber}</option>`)}</datalist>
<datalist id="links">${things.verifications.map(({ reference, status }) => html`<option value="${reference}">${status}</option>`)}</datalist>
</section>`;
  };
}
