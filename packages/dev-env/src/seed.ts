import { join } from "node:path";
import { apiCaller } from "./demo/api.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { keepSecrets, type Secrets } from "./secrets.ts";

/** One business to try things with, made through the public API, once for each data folder. */
export async function seedBusiness(dir: string, secrets: Secrets, gatewayUrl: string): Promise<{ id: string; api_key: string }> {
  const { business } = secrets;
  if (business && (await apiCaller(gatewayUrl, business.api_key)("GET", "/api/v1/me")).status === 200) return business;
  const made = await apiCaller(gatewayUrl, secrets.adminKey)("POST", "/api/v1/businesses", { name: "Boutique El Amana" });
  // Whoever retired both keys goes on with those that were issued since.
  if (made.status === 401 && business) return business;
  if (made.status !== 201) {
    throw new DevEnvError(
      `The first business could not be made: ${made.status} ${JSON.stringify(made.body)}`,
      `The log has the reason: ${join(dir, "logs", "gateway.log")}`,
    );
  }
  const seeded = { id: String(made.body["id"]), api_key: String(made.body["api_key"]) };
  await keepSecrets(dir, { ...secrets, business: seeded });
  return seeded;
}
