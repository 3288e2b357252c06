import { collectDefaultMetrics } from "prom-client";
import { counter, onScrape, registry } from "./metrics.ts";

/** What prom-client knows of a process and is of use. */
const kept = new Set([
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
/** How often the delay of the event loop is measured: part of the figures, and of an idle CPU. */
const eventLoopMs = 50;

const busy = counter({
  name: "amana_event_loop_busy_seconds_total",
  help: "For how long the event loop worked and did not wait; its rate is how much of one processor it takes",
});

/** Shows what the process itself uses. Once in a process. */
export function showProcessMetrics(): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!kept.has(name) && !name.startsWith("amana_")) registry.removeSingleMetric(name);
  }
  let seenMs = 0;
  onScrape(() => {
    const { active } = performance.eventLoopUtilization();
    busy.inc((active - seenMs) / 1000);
    seenMs = active;
  });
}
