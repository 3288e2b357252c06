/** Calls between services: typed server and client, callers, refusals, health. */
export { type Call, type IdempotencyKey, type Implementation, type Implementations, isSameRequest } from "./call.ts";
export { type Caller, noCaller, platformCaller, requireAdmin, requireBusiness, requirePlatform } from "./caller.ts";
export { type CallerKey, type CallerSigner, createCallerSigner } from "./caller-token.ts";
export {
  type CallOptions,
  createRpcChannel,
  createRpcClient,
  type RpcChannel,
  type RpcChannelOptions,
  type RpcClient,
  type RpcFunction,
} from "./client.ts";
export {
  conflict,
  DomainError,
  type DomainErrorKind,
  forbidden,
  invalid,
  notFound,
  outcomeUnknown,
  refusedUpstream,
  unavailable,
  upstreamError,
} from "./domain-error.ts";
export { fromConnectError, toConnectError } from "./error-mapping.ts";
export { requestedName } from "./requested-name.ts";
export { createRpcServer, type RpcServer, type ServedService, serve, serveFrom } from "./server.ts";
export { readCallerKey, readServiceUrls, readTlsFiles, readTrustedKeys, rejectSharedKeys } from "./settings.ts";
export { openTls, type Tls } from "./tls.ts";
