/** Creates, checks and hashes API keys. Also exports the maximum cache lease of a key. */
export { keyLeaseMsMax } from "./key-lease.ts";
export { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./key-text.ts";
