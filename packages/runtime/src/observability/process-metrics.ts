import { collectDefaultMetrics } from "prom-client";
import { counter, onScrape, registry } from "./metrics.ts";

/** Default metrics of prom-client that are exported. */
const exported = new Set([
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_mean_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_heap_size_total_bytes",
  "nodejs_heap_size_used_bytes",
  "nodejs_external_memory_bytes",
  "nodejs_gc_duration_seconds",
]);
/**
 * Interval of event loop delay measurements. The measured delays include the interval, and a
 * shorter interval costs more CPU time.
 */
const eventLoopMs = 50;

const busy = counter({
  name: "amana_event_loop_busy_seconds_total",
  help: "Time that the event loop was busy; the rate of this counter is the used share of one CPU",
});

/** Exports the resource use of the process as metrics. Call it once. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!exported.has(name) && !name.startsWith("amana_")) registry.removeSingleMetric(name);
  }
  let countedMs = 0;
  onScrape(() => {
    const { active } = performance.eventLoopUtilization();
    busy.inc((active - countedMs) / 1000);
    countedMs = active;
  });
}
