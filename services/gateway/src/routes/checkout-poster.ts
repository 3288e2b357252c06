import { languageOf, openLink } from "../checkout/open-link.ts";
import type { App, Gateway } from "../gateway.ts";
import { sendCheckoutPage, viewOf } from "../pages/checkout/layout.ts";
import { posterPage } from "../pages/checkout/poster-page.ts";
import { qrCodeSvg } from "../pages/checkout/qr-code.ts";

/** Serves the QR code of a payment link, and a printable page that contains the QR code. */
export function checkoutPoster(app: App, gateway: Gateway): void {
  const hidden = { schema: { hide: true } };

  app.get("/:token/qr.svg", hidden, async (request, reply) => {
    const { link } = await openLink(gateway, request, reply);
    return reply.type("image/svg+xml").header("referrer-policy", "no-referrer").send(qrCodeSvg(link.url));
  });

  app.get("/:token/poster", hidden, async (request, reply) => {
    const opened = await openLink(gateway, request, reply);
    const view = viewOf(languageOf(request), `/pay/${opened.linkToken}/poster`);
    return sendCheckoutPage(reply, view, posterPage(view, opened));
  });
}
