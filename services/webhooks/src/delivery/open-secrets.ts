import { decryptIfReadable } from "@amana/secret-box";
import type { Context } from "../context.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { SigningSecrets } from "./sign.ts";

type Ciphertexts = Pick<ClaimedDelivery, "secret_ciphertext" | "other_secret_ciphertext">;

/**
 * What to sign an endpoint's events with. Throws when the secret cannot be read: nothing can be
 * sent without it.
 */
export const openSecrets = (
  { secrets, logger }: Pick<Context, "secrets" | "logger">,
  endpointId: string,
  { secret_ciphertext: current, other_secret_ciphertext: other }: Ciphertexts,
): SigningSecrets => ({
  current: secrets.decrypt(current, endpointId),
  // A good one is not worth less because the other cannot be read.
  other: other ? decryptIfReadable(secrets, other, endpointId, logger) : undefined,
});
