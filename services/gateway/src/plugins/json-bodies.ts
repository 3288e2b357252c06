import type { FastifyRequest } from "fastify";
import type { TObject } from "typebox";
import { compileBody } from "../form/body.ts";
import { compileQuery } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { readJsonObject } from "../json/read-json.ts";
import { Problem } from "../problem.ts";
import { limitBody } from "./limit-rate.ts";

// No two runs of white space meet: there are too many ways to divide 16 KiB between them.
const jsonType = /^application\/json\s*(;\s*(charset\s*=\s*"?utf-?8"?\s*(;\s*)?)?)?$/i;

/** Bodies are JSON, and forms checked, by our own rules; see `readJsonObject` and `form/`. */
export function readJsonBodies(app: App, gateway: Gateway): void {
  app.decorateRequest("bodyBytes", null);
  app.removeAllContentTypeParsers();
  // For every type and none: only a chunked body's end tells that there was none.
  app.addContentTypeParser("*", async (request: FastifyRequest) => {
    const bytes = await request.incoming?.read(gateway.byteBounds.of(request));
    if (!bytes || bytes.length === 0) return null;
    const encoding = request.headers["content-encoding"];
    if (!jsonType.test(request.headers["content-type"] ?? "") || (encoding !== undefined && !/^identity$/i.test(encoding))) {
      throw Problem.of("unsupported_media_type");
    }
    limitBody(gateway, request, bytes.length);
    request.bodyBytes = bytes;
    return readJsonObject(bytes);
  });

  // `curl -X POST -d ""` names a type for no bytes; without it Fastify sees no body.
  app.addHook("onRequest", ({ raw: { headers } }, _reply, done) => {
    const length = headers["content-length"];
    if ((length === undefined || length === "0") && headers["transfer-encoding"] === undefined) delete headers["content-type"];
    done();
  });

  app.setValidatorCompiler<TObject>(({ schema, httpPart }) => {
    // Ids in paths are judged by the routes: one that is malformed is as unknown as any other.
    if (httpPart !== "body" && httpPart !== "querystring") return (value) => ({ value });
    const check = httpPart === "body" ? compileBody(schema) : compileQuery(schema);
    return (value) => {
      try {
        return { value: check(value) };
      } catch (error) {
        return { error: error as Error };
      }
    };
  });
}
