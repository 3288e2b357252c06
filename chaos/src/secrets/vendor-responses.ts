import { createHmac } from "node:crypto";
import type { KycProvider } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { request } from "undici";
import { readProviderView } from "../provider-view.ts";

type Vendor = Exclude<KycProvider, "port">;

const pathsOf: Readonly<Record<Vendor, (id: string) => readonly string[]>> = {
  didit: (id) => [`/didit/v3/session/${id}/decision/`, `/didit/v3/sessions/${id}/reviews/`],
  sumsub: (id) => [
    `/sumsub/resources/applicants/${id}/one`,
    `/sumsub/resources/applicants/${id}/requiredIdDocsStatus`,
    `/sumsub/resources/api/applicants/${id}/amlCase`,
  ],
};

/**
 * Reads an application and its callbacks at the vendor, with the requests that kyc also sends.
 * Returns the distinct texts of personal fields. The sandbox fills each personal field with
 * "canary-" and the field's name.
 */
export async function readPersonalTexts(system: System, vendor: Vendor, reference: string): Promise<string[]> {
  const view = await readProviderView(system, reference);
  const texts = [JSON.stringify(view)];
  for (const path of pathsOf[vendor](view.provider_id)) {
    const response = await request(`${system.sandboxUrl}${path}`, { headers: createHeaders(system, vendor, path) });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`GET ${path} returned ${response.statusCode}: ${text}`);
    texts.push(text);
  }
  return [...new Set(texts.join("\n").match(/canary-[\w-]+/g))];
}

/**
 * Returns the headers that authenticate a request to the vendor. Sumsub's signature is specified in
 * docs.sumsub.com/reference/authentication.
 */
function createHeaders(system: System, vendor: Vendor, path: string): Record<string, string> {
  const settings = system.envOf("kyc");
  if (vendor === "didit") return { "x-api-key": settings["KYC_DIDIT_API_KEY"] ?? "" };
  const seconds = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", settings["KYC_SUMSUB_SECRET_KEY"] ?? "").update(`${seconds}GET${path}`);
  return {
    "x-app-token": settings["KYC_SUMSUB_APP_TOKEN"] ?? "",
    "x-app-access-ts": seconds,
    "x-app-access-sig": signature.digest("hex"),
  };
}
