import type { System } from "@amana/dev-env/system";
import { request } from "undici";

/**
 * Returns the value of text series, such as `amana_http_connections_ended_total{reason="stalled"}`.
 * A series that does not exist yet is 0, and NaN means that the gateway does not respond.
 */
export async function gatewayMetric(system: System, series: string): Promise<number> {
  const scrape = async () => await (await request(system.metricsUrls.gateway, { headersTimeout: 10_000 })).body.text();
  const metrics = await scrape().catch(() => undefined);
  if (metrics === undefined) return Number.NaN;
  const line = metrics.split("\n").find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
