import type { System } from "@amana/dev-env/system";
import { request } from "undici";

/**
 * Returns the value of one series, such as `amana_http_connections_ended_total{reason="stalled"}`.
 * A series that does not exist yet is 0, and NaN means that the gateway does not respond.
 */
export async function gatewayMetric(system: System, series: string): Promise<number> {
  const scrape = async () => await (await request(system.metricsUrls.gateway, { headersTimeout: 10_000 })).body.text();
  const text = await scrape().catch(() => undefined);
  if (text === undefined) return Number.NaN;
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
