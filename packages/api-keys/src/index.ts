/** API keys: creation, offline check, display prefix, hash and maximum cache lease. */
export { keyLeaseMsMax } from "./key-lease.ts";
export { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./key-text.ts";
