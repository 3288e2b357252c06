import type { System } from "@amana/dev-env/system";
import { request } from "undici";

/**
 * Returns the value of a series, such as `amana_http_connections_ended_total{reason="stalled"}`.
 * Returns 0 if the series does not exist yet, and NaN if the gateway does not respond.
 */
export async function readGatewayMetric(system: System, series: string): Promise<number> {
  const scrape = async () => await (await request(system.metricsUrls.gateway, { headersTimeout: 10_000 })).body.text();
  const metrics = await scrape().catch(() => undefined);
  if (metrics === undefined) return Number.NaN;
  const line = metrics.split("\n").find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}
