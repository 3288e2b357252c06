import type { FastifyRequest } from "fastify";
import type { TObject } from "typebox";
import { compileOnFirstUse } from "../compile-on-first-use.ts";
import { compileBody } from "../form/body.ts";
import { compileQuery } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { readJsonObject } from "../json/read-json.ts";
import { Problem } from "../problem.ts";
import { limitBody, limitValues } from "./limit-rate.ts";

// The pattern contains no two adjacent `\s*`. With them, matching 16 KiB of white space would take
// quadratic time.
const jsonType = /^application\/json\s*(;\s*(charset\s*=\s*"?utf-?8"?\s*(;\s*)?)?)?$/i;

/**
 * Replaces Fastify's JSON parser and validator with `readJsonObject` and `form/`, which are
 * stricter.
 */
export function readJsonBodies(app: App, gateway: Gateway): void {
  app.decorateRequest("bodyBytes", null);
  app.removeAllContentTypeParsers();
  // This parser first reads the body and then checks the content type. An empty body needs no
  // content type, and an empty chunked body is recognized only at its end.
  app.addContentTypeParser("*", async (request: FastifyRequest) => {
    const bytes = await request.incoming?.read(gateway.byteBounds.of(request));
    if (!bytes || bytes.length === 0) return null;
    const encoding = request.headers["content-encoding"];
    if (!jsonType.test(request.headers["content-type"] ?? "") || (encoding !== undefined && !/^identity$/i.test(encoding))) {
      throw Problem.of("unsupported_media_type");
    }
    limitBody(gateway, request, bytes.length);
    request.bodyBytes = bytes;
    return readJsonObject(bytes, (count) => limitValues(gateway, request, count));
  });

  // Removes the content type that `curl -X POST -d ""` sends with an empty body. Without a content
  // type, Fastify does not read the body.
  app.addHook("onRequest", ({ raw: { headers } }, _reply, done) => {
    const length = headers["content-length"];
    if ((length === undefined || length === "0") && headers["transfer-encoding"] === undefined) delete headers["content-type"];
    done();
  });

  app.setValidatorCompiler<TObject>(({ schema, httpPart }) => {
    // Routes check the ids in paths. A malformed id gets the same response as an unknown id.
    if (httpPart !== "body" && httpPart !== "querystring") return (value) => ({ value });
    const check = compileOnFirstUse(() => (httpPart === "body" ? compileBody(schema) : compileQuery(schema)));
    return (value) => {
      try {
        return { value: check(value) };
      } catch (error) {
        return { error: error as Error };
      }
    };
  });
}
