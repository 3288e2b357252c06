import { request } from "undici";
import { DevEnvError } from "./dev-env-error.ts";
import { keepSecrets, type Secrets } from "./secrets.ts";

/** One business to try things with, made through the public API like any other, once for each data folder. */
export async function seedBusiness(dir: string, secrets: Secrets, gatewayUrl: string): Promise<{ id: string; api_key: string }> {
  const call = async (method: "GET" | "POST", path: string, key: string, body?: object) => {
    const answer = await request(`${gatewayUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : null,
      headersTimeout: 10_000,
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, string> };
  };

  const { business } = secrets;
  if (business && (await call("GET", "/api/v1/me", business.api_key)).status === 200) return business;
  const made = await call("POST", "/api/v1/businesses", secrets.adminKey, { name: "Boutique El Amana" });
  if (made.status !== 201) {
    throw new DevEnvError(
      `The first business could not be made: ${made.status} ${JSON.stringify(made.body)}`,
      "Look into the logs folder for the reason, or start with --fresh.",
    );
  }
  const seeded = { id: made.body["id"] ?? "", api_key: made.body["api_key"] ?? "" };
  await keepSecrets(dir, { ...secrets, business: seeded });
  return seeded;
}
