import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";

const read = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");

/** The mark, drawn once: pages put it in line, browsers fetch it as the icon. */
export const mark = read("mark.svg");

const files = {
  "sandbox.css": ["text/css; charset=utf-8", read("sandbox.css")],
  "sandbox.js": ["text/javascript; charset=utf-8", read("sandbox.js")],
  "camera.js": ["text/javascript; charset=utf-8", read("camera.js")],
  "mark.svg": ["image/svg+xml", mark],
} as const;

export async function assets(app: FastifyInstance): Promise<void> {
  for (const [name, [type, text]] of Object.entries(files)) {
    app.get(`/assets/${name}`, (_request, reply) =>
      reply.type(type).header("cache-control", "no-cache").header("x-content-type-options", "nosniff").send(text),
    );
  }
}
