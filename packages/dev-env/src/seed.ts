import { join } from "node:path";
import { apiCaller } from "./demo/api.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { type Secrets, writeSecrets } from "./secrets.ts";

/** Returns the business for first tests. Creates it with the API, once for each data folder. */
export async function seedBusiness(dir: string, secrets: Secrets, gatewayUrl: string): Promise<{ id: string; api_key: string }> {
  const { business } = secrets;
  if (business && (await apiCaller(gatewayUrl, business.api_key)("GET", "/api/v1/me")).status === 200) return business;
  const created = await apiCaller(gatewayUrl, secrets.adminKey)("POST", "/api/v1/businesses", { name: "Boutique El Amana" });
  // The stored operator key and the stored key of the business were both revoked. The user has
  // newer keys.
  if (created.status === 401 && business) return business;
  if (created.status !== 201) {
    throw new DevEnvError(
      `The first business could not be created: ${created.status} ${JSON.stringify(created.body)}`,
      `See the log: ${join(dir, "logs", "gateway.log")}`,
    );
  }
  const seeded = { id: String(created.body["id"]), api_key: String(created.body["api_key"]) };
  await writeSecrets(dir, { ...secrets, business: seeded });
  return seeded;
}
