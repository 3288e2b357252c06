import type { FastifyRequest } from "fastify";
import type { App, Gateway } from "../gateway.ts";

/** Reads bodies as raw bytes and ignores the type and encoding in the headers. */
export function readAnyBodies(app: App, { byteBounds }: Gateway): void {
  app.addHook("onRequest", (request, _reply, done) => {
    delete request.raw.headers["content-type"];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest) => await request.incoming?.read(byteBounds.of(request)));
}
