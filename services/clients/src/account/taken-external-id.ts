import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { externalAccountIdTaken } from "./account.errors.ts";

/** Of two that take one external id at the same time, the index lets the first through and this tells the second. */
export async function refusingTakenExternalId(store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    const { constraint } = error as { constraint?: string };
    const isTaken = error instanceof UniqueConstraintViolationException && constraint === "account_business_external_id";
    throw isTaken ? externalAccountIdTaken() : error;
  }
}
