import { UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import { emailTaken } from "./client.errors.ts";

/** Of two that take one address at the same time, the index lets the first through and this tells the second. */
export async function refusingTakenEmail(store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    const { constraint } = error as { constraint?: string };
    if (error instanceof UniqueConstraintViolationException && constraint === "client_business_email") throw emailTaken();
    throw error;
  }
}
