/** API keys: made, checked without a look-up, shown in part, hashed; how long they are believed. */
export { keyLeaseMsMax } from "./key-lease.ts";
export { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./key-text.ts";
