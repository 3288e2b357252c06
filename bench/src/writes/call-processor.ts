import { request } from "undici";

/** Sends a call to the simulated processor at SATIM_URL and returns the parsed response. */
export async function callProcessor(path: string, parameters: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await request(`${process.env["SATIM_URL"]}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ userName: "bench", password: "bench", ...parameters }).toString(),
  });
  return (await response.body.json()) as Record<string, unknown>;
}
