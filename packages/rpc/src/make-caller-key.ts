/** Prints a new pair to vouch with: node packages/rpc/src/make-caller-key.ts <id> */
import { generateKeyPairSync } from "node:crypto";

const id = process.argv[2] ?? "";
if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
  process.stderr.write("Name the key, a new name for each: node packages/rpc/src/make-caller-key.ts gateway-2026-01\n");
  process.exit(1);
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
process.stdout.write(`private, for CALLER_PRIVATE_KEY of who vouches:
${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}
public, for GATEWAY_PUBLIC_KEYS (or KYC_PUBLIC_KEYS) of who is called:
${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}
`);
