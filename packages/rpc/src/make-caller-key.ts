/** Prints a new key pair for caller tokens: node packages/rpc/src/make-caller-key.ts <id> */
import { generateKeyPairSync } from "node:crypto";

const id = process.argv[2] ?? "";
if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
  process.stderr.write(`Usage: node packages/rpc/src/make-caller-key.ts <id>
<id>  1 to 32 letters, digits, "-" or "_"; a new one for each key pair, for example gateway-2026-01
`);
  process.exit(1);
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
process.stdout.write(`private key, for CALLER_PRIVATE_KEY of the calling service:
${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}
public key, for GATEWAY_PUBLIC_KEYS (or KYC_PUBLIC_KEYS) of the called services:
${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}
`);
