import type { App } from "../gateway.ts";

/** Reads bodies up to a bound as the bytes they are, however they call their type or encoding. */
export function readAnyBodies(app: App, bytesMax: number): void {
  app.addHook("onRequest", (request, _reply, done) => {
    delete request.raw.headers["content-type"];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bytesMax }, (_request, bytes, done) => done(null, bytes));
}
