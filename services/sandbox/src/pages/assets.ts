import { readFileSync } from "node:fs";
import { hostedStyle, logo, staticFile } from "@amana/pages";
import type { FastifyInstance } from "fastify";

const read = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");

const files = {
  "sandbox.css": ["text/css; charset=utf-8", `${hostedStyle}\n${read("sandbox.css")}`],
  "sandbox.js": ["text/javascript; charset=utf-8", read("sandbox.js")],
  "camera.js": ["text/javascript; charset=utf-8", read("camera.js")],
  "mark.svg": ["image/svg+xml", logo.text],
} as const;

export async function assets(app: FastifyInstance): Promise<void> {
  const headers = { "x-content-type-options": "nosniff" };
  for (const [name, [type, content]] of Object.entries(files)) {
    app.get(
      `/assets/${name}`,
      staticFile(() => ({ type, content, headers })),
    );
  }
}
