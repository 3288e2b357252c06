import { formatAmount, html } from "@amana/pages";
import { type CheckoutPage, foreignText, type ShownLink, type View } from "./layout.ts";
import { rangeOf } from "./parts.ts";

/** A page to print: seller, name, amount and the QR code of the link. */
export function posterPage({ language, texts }: View, { link, linkToken, businessName }: ShownLink): CheckoutPage {
  const { poster } = texts;
  const { amountMinor } = link;
  return {
    status: 200,
    title: link.name,
    bodyClass: "poster",
    main: html`<section class="card">
<p class="seller"><strong>${foreignText(businessName)}</strong></p>
<h1>${foreignText(link.name)}</h1>
<p class="price">${amountMinor === undefined ? poster.freeAmount(...rangeOf(link, language)) : formatAmount(amountMinor, language)}</p>
<p><img src="/pay/${linkToken}/qr.svg" alt="${poster.qrCode}" width="280" height="280"></p>
<p class="scan"><strong>${poster.title}</strong></p>
<p>${poster.scan}</p>
<p class="address"><bdi dir="ltr">${link.url}</bdi></p>
</section>
<div class="actions"><button type="button" class="button primary" data-print hidden>${poster.print}</button></div>`,
  };
}
