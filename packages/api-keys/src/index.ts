/** The form of API keys: how they are made, checked without any look-up, shown in part and stored as a hash. */
export { type ApiKeyKind, generateApiKey, hashApiKey, prefixOf, readApiKeyKind } from "./key-text.ts";
