/** API keys: how they are made, checked without any look-up, shown in part, stored as a hash, and how long they are believed. */
export { keyLeaseMsMax } from "./key-lease.ts";
export { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./key-text.ts";
