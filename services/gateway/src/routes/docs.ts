import Fastify from "fastify";
import type { App } from "../gateway.ts";
import { staticFile } from "../pages/static-file.ts";

// The script of the reference sets inline styles. Scripts and connections are limited to this
// origin.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Amana API</title>
<style>
:root{--scalar-custom-header-height:48px}
nav{position:sticky;inset-block-start:0;z-index:10;display:flex;gap:24px;align-items:center;block-size:48px;padding-inline:24px;
background:Canvas;color:CanvasText;font:1rem/1.5 system-ui,sans-serif;border-block-end:1px solid GrayText}
nav a{color:inherit;line-height:44px}
</style>
</head>
<body>
<nav aria-label="Documents"><a href="/">Amana</a><a href="/docs/guide">Guide</a><a href="/problems">Problems</a></nav>
<noscript><p>The API reference requires JavaScript. Without it, read the <a href="/docs/guide">guide</a> and the <a href="/openapi.json">OpenAPI document</a>.</p></noscript>
<div id="reference"></div>
<script src="/docs/reference.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

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

/** Serves the API reference and the OpenAPI document without content from other origins. */
export const docs = async (app: App): Promise<void> => {
  const hidden = { schema: { hide: true } };

  app.get(
    "/openapi.json",
    hidden,
    staticFile(() => ({ type: "application/json; charset=utf-8", content: JSON.stringify(app.swagger()) })),
  );
  app.get(
    "/docs",
    hidden,
    staticFile(() => ({
      type: "text/html; charset=utf-8",
      content: html,
      headers: { "content-security-policy": policy, "referrer-policy": "no-referrer" },
    })),
  );
  app.get("/docs/", hidden, async (_request, reply) => reply.redirect("/docs", 308));
  app.get(
    "/docs/start.js",
    hidden,
    staticFile(() => ({ type: scriptType, content: start })),
  );
  app.get(
    "/docs/reference.js",
    hidden,
    staticFile(async () => ({
      type: scriptType,
      content: await loadReference(),
      headers: { "cache-control": "public, max-age=3600" },
    })),
  );
};

const scriptType = "text/javascript; charset=utf-8";

/**
 * Returns the script of the reference from its Fastify plugin. The script has some megabytes and
 * most gateways never serve it, so it is loaded at the first request.
 */
async function loadReference(): Promise<Buffer> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(scalar, { routePrefix: "/", configuration: { content: { openapi: "3.1.0", info: {}, paths: {} } } });
  const { rawPayload, statusCode } = await app.inject("/js/scalar.js");
  await app.close();
  if (statusCode !== 200)
    throw new Error("@scalar/fastify-api-reference does not serve /js/scalar.js: adapt loadReference to its version");
  return rawPayload;
}
