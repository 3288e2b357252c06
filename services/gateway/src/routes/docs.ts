import { html, htmlContentType, pageHeaders, renderDocument, staticFile } from "@amana/pages";
import Fastify from "fastify";
import type { App } from "../gateway.ts";

// The script of the reference sets inline styles, which require 'unsafe-inline'.
const sources = {
  "script-src": "'self'",
  "style-src": "'self' 'unsafe-inline'",
  "img-src": "'self' data:",
  "font-src": "'self' data:",
  "connect-src": "'self'",
};

const page = renderDocument({
  language: "en",
  title: "Amana API",
  head: html`<style>
:root{--scalar-custom-header-height:48px}
body{margin:0}
nav{position:sticky;inset-block-start:0;z-index:10;display:flex;gap:24px;align-items:center;block-size:48px;padding-inline:24px;
background:Canvas;color:CanvasText;font:1rem/1.5 system-ui,sans-serif;border-block-end:1px solid GrayText}
nav a{color:inherit;line-height:44px}
</style>`,
  body: html`<nav aria-label="Documents"><a href="/">Amana</a><a href="/docs/guide">Guide</a><a href="/problems">Problems</a></nav>
<noscript><p>The reference requires JavaScript. Without it, read the <a href="/docs/guide">guide</a> and the
<a href="/openapi.json">OpenAPI document</a>.</p></noscript>
<div id="reference"></div>
<script src="/docs/reference.js"></script>
<script src="/docs/start.js"></script>`,
});

const start = `Scalar.createApiReference("#reference", ${JSON.stringify({
  url: "/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: false,
})});
`;

/**
 * Serves the API reference and the OpenAPI document. The page loads no file from another origin.
 */
export const docs = async (app: App): Promise<void> => {
  const addFile = (path: string, load: Parameters<typeof staticFile>[0]) => app.get(path, staticFile(load));
  addFile("/openapi.json", () => ({ type: "application/json; charset=utf-8", content: JSON.stringify(app.swagger()) }));
  const headers = pageHeaders({ language: "en", contentSources: sources });
  addFile("/docs", () => ({ type: htmlContentType, content: page, headers }));
  app.get("/docs/", async (_request, reply) => reply.redirect("/docs", 308));
  addFile("/docs/start.js", () => ({ type: scriptType, content: start }));
  const scriptHeaders = { "cache-control": "public, max-age=3600" };
  addFile("/docs/reference.js", async () => ({ type: scriptType, content: await loadReference(), headers: scriptHeaders }));
};

const scriptType = "text/javascript; charset=utf-8";

/**
 * Returns the script of the API reference, which is a part of Scalar's Fastify plugin. The script
 * has several megabytes, and most gateways never serve it. Therefore it is loaded at the first
 * request.
 */
async function loadReference(): Promise<Buffer> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(scalar, { routePrefix: "/", configuration: { content: { openapi: "3.1.0", info: {}, paths: {} } } });
  const { rawPayload, statusCode } = await app.inject("/js/scalar.js");
  await app.close();
  if (statusCode !== 200)
    throw new Error("@scalar/fastify-api-reference serves no script at /js/scalar.js; adapt loadReference to its new version");
  return rawPayload;
}
