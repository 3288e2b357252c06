import type { IncomingMessage } from "node:http";
import { uuidv7 } from "@amana/runtime";
import type { FastifyRequest } from "fastify";
import type { App } from "../gateway.ts";
import { Problem } from "../problem.ts";

export const bodyBytesMax = 1024 * 1024;

const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;

/** The caller's own id when it is a harmless one. */
export function requestIdOf(raw: Pick<IncomingMessage, "headers">): string {
  const given = raw.headers["x-request-id"];
  return typeof given === "string" && requestIdPattern.test(given) ? given : uuidv7();
}

/**
 * What comes before everything else, for every address: the headers of every answer, then route
 * (404), method (405) and size (413), in that order and before anyone asks for a key.
 */
export function guardEdge(app: App): void {
  const addresses = knownAddresses(app);
  app.addHook("onRequest", (request, reply, done) => {
    const { headers, socket } = request.raw;
    // An earlier pipelined request has ended the connection, so no response can be sent.
    if (socket.destroyed) return void reply.hijack();
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    reply.header("cache-control", "no-store");
    if (request.is404) return done(unknownAddress(request, addresses));
    if (headers.host === undefined && request.raw.httpVersion === "1.1") return done(Problem.of("malformed_request"));
    const length = headers["content-length"];
    if (length !== undefined && Number(length) > request.routeOptions.bodyLimit) return done(Problem.of("body_too_large"));
    done();
  });
}

interface Address {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

function knownAddresses(app: App): Map<string, Address> {
  const addresses = new Map<string, Address>();
  app.addHook("onRoute", ({ url, method }) => {
    let address = addresses.get(url);
    if (!address) {
      address = { pattern: new RegExp(`^${url.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`), methods: new Set() };
      addresses.set(url, address);
    }
    for (const one of [method].flat()) address.methods.add(one);
  });
  return addresses;
}

function unknownAddress(request: FastifyRequest, addresses: Map<string, Address>) {
  const [path = ""] = request.url.split("?", 1);
  // What has an address of its own is not an id: nobody can be read at /clients/person.
  const own = addresses.get(path);
  const matching = own ? [own] : [...addresses.values()].filter(({ pattern }) => pattern.test(path));
  const methods = new Set(matching.flatMap((address) => [...address.methods]));
  if (methods.size === 0) return Problem.of("not_found");
  const allow = [...methods].sort().join(", ");
  return Problem.of("method_not_allowed", { detail: `This address answers ${allow}.`, headers: { allow } });
}
