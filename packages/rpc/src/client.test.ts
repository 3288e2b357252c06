import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { KeyLeaseService, ResolveKeysResponseSchema } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { renderMetrics } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { createRpcChannel, createRpcClient, noCaller } from "./index.ts";

const message = toBinary(ResolveKeysResponseSchema, create(ResolveKeysResponseSchema, { leaseMs: 5 }));
const inProto = { "content-type": "application/proto" };
let audiences = 0;

/**
 * Makes one call to a server that sends this response. Returns the outcome of the call, and the
 * codes that the metrics counted.
 */
async function callTo(status: number, headers: Record<string, string>, ...body: (string | Uint8Array)[]) {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers);
    for (const part of body) response.write(part);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const audience = `server-${audiences++}`;
  await using channel = createRpcChannel({ urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`], audience });
  const outcome = await createRpcClient(KeyLeaseService, channel)
    .resolveKeys({}, { caller: noCaller })
    .catch((error: unknown) => error);
  server.close();
  const counted = (await renderMetrics()).matchAll(
    new RegExp(`^amana_rpc_client_duration_seconds_count\\{to="${audience}",.*code="(\\w+)".*\\} (\\d+)$`, "gm"),
  );
  return {
    outcome: outcome instanceof ConnectError ? codeToString(outcome.code) : outcome,
    counted: [...counted].map(([, code, count]) => `${code} ${count}`),
  };
}

describe("createRpcClient", () => {
  test.each<Record<string, string>>([{}, { "content-encoding": "identity" }])(
    "createRpcClient returns the message of a protobuf response with the additional headers %o",
    async (headers) => {
      expect(await callTo(200, { ...inProto, ...headers }, message)).toMatchObject({
        outcome: { leaseMs: 5 },
        counted: ["ok 1"],
      });
    },
  );

  // Content types and encodings have the codes of the reference implementation (conformance suite).
  // A status has the code of connectrpc.com/docs/protocol, "HTTP to Error Code".
  test.each<[string, number, Record<string, string>, (string | Uint8Array)[], string]>([
    ["an empty image", 200, { "content-type": "image/jpeg" }, [], "unknown"],
    ["an HTML page", 200, { "content-type": "text/html" }, ["<p>Sign in</p>"], "unknown"],
    ["no content type", 200, {}, [message], "unknown"],
    ["JSON instead of protobuf", 200, { "content-type": "application/json" }, ['{"leaseMs":5}'], "internal"],
    ["an unknown content encoding", 200, { ...inProto, "content-encoding": "zstd" }, [message], "internal"],
    ["a content encoding that was not accepted", 200, { ...inProto, "content-encoding": "gzip" }, [message], "internal"],
    ["bytes that are not a protobuf message", 200, inProto, [Buffer.from([0xff, 0xff])], "internal"],
    ["more than 4 MiB", 200, inProto, [Buffer.alloc(4 * 1024 * 1024), Buffer.of(0)], "resource_exhausted"],
    ["a success without content", 204, inProto, [], "unknown"],
    ["a Connect error", 400, { "content-type": "application/json" }, ['{"code":"out_of_range"}'], "out_of_range"],
    ["a Connect error as HTML", 400, { "content-type": "text/html" }, ['{"code":"out_of_range"}'], "internal"],
    ["an error page of a proxy", 503, { "content-type": "text/html" }, ["<p>Later</p>"], "unavailable"],
    ["JSON that is not a Connect error", 404, { "content-type": "application/json" }, ["[]"], "unimplemented"],
  ])(
    "createRpcClient throws a ConnectError, and counts the call with an error code in the metrics, for this response: %s",
    async (_, status, headers, body, code) => {
      expect(await callTo(status, headers, ...body)).toEqual({ outcome: code, counted: [`${code} 1`] });
    },
  );
});
